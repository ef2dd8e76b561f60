/** `npm run build:agent [-- FILE]`: bundles the agent into one file that runs on Node 24 without node_modules. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import V8_FLAGS from '../agent/v8-flags.json' with { type: 'json' };

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const outfile = path.resolve(process.argv[2] ?? path.join(root, 'dist', 'signalbox-agent.cjs'));

/**
 * Runs before any require: an old Node lacks node:sqlite and would fail with a stack trace. Written in old JavaScript, so
 * that any Node can run it.
 */
const NODE_24 =
  'if(parseInt(process.versions.node,10)<24){process.stderr.write("signalbox-agent needs Node 24 or later; this is "+process.version+"\\n");process.exit(1)}';

/** Set before the heap has grown. `bin/signalbox-agent.mjs` gives the same flags to the agent that runs from source. */
const SMALL_HEAP = `{const v8=require('node:v8');for(const flag of ${JSON.stringify(V8_FLAGS)})v8.setFlagsFromString(flag)}`;

await build({
  entryPoints: [path.join(root, 'agent', 'main.ts')],
  outfile,
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  // Optional native parts of ssh2, and a debugging aid of a dependency.
  external: ['cpu-features', '*.node', 'source-map-support'],
  alias: { 'iconv-lite': path.join(root, 'scripts', 'build-agent', 'no-iconv.ts') },
  banner: { js: NODE_24 + SMALL_HEAP },
  legalComments: 'none',
  logLevel: 'warning',
});
const { size } = await stat(outfile);
process.stdout.write(`${path.relative(process.cwd(), outfile)} ${(size / 1e6).toFixed(2)} MB\n`);
