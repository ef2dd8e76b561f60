/** `npm run build:agent`: bundles the agent into one file that runs on Node 24 without node_modules. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const outfile = path.join(root, 'dist', 'signalbox-agent.cjs');

await build({
  entryPoints: [path.join(root, 'agent', 'main.ts')],
  outfile,
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  // Native parts that ssh2 works without, and a debugging aid of a dependency.
  external: ['cpu-features', '*.node', 'source-map-support'],
  legalComments: 'none',
  logLevel: 'warning',
});
const { size } = await stat(outfile);
process.stdout.write(`${path.relative(process.cwd(), outfile)} ${(size / 1e6).toFixed(2)} MB\n`);
