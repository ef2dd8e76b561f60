import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import V8_FLAGS from '../../agent/v8-flags.json' with { type: 'json' };
import { AGENT_VERSION } from '../../agent/version.ts';

const root = path.resolve(import.meta.dirname, '../..');

/**
 * Runs before any require: an old Node lacks node:sqlite and would fail with a stack trace. Written in old JavaScript, so
 * that any Node can run it.
 */
const NODE_24 =
  'if(parseInt(process.versions.node,10)<24){process.stderr.write("signalbox-agent needs Node 24 or later; this is "+process.version+' +
  '". npm brings it: sudo npm install --global --prefix /usr/local node@24\\n");process.exit(1)}';

/** Set before the heap has grown. `bin/signalbox-agent.mjs` gives the same flags to the agent that runs from source. */
const SMALL_HEAP = `{const v8=require('node:v8');for(const flag of ${JSON.stringify(V8_FLAGS)})v8.setFlagsFromString(flag)}`;

/** Bundles the agent into one file, and writes its version and SHA-256 beside it for the control plane that hands it out. */
export async function buildAgent(outfile = path.join(root, 'dist', 'signalbox-agent.cjs')): Promise<{ outfile: string; bytes: number }> {
  await build({
    entryPoints: [path.join(root, 'agent', 'main.ts')],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // For `node --enable-source-maps`: the bundle is one line.
    sourcemap: 'external',
    sourcesContent: false,
    // Optional native parts of ssh2, and a debugging aid of a dependency.
    external: ['cpu-features', '*.node', 'source-map-support'],
    alias: { 'iconv-lite': path.join(root, 'scripts', 'build-agent', 'no-iconv.ts') },
    banner: { js: NODE_24 + SMALL_HEAP },
    legalComments: 'none',
    logLevel: 'warning',
  });
  const bundle = await readFile(outfile);
  const about = { version: AGENT_VERSION, sha256: createHash('sha256').update(bundle).digest('hex'), bytes: bundle.length };
  await writeFile(outfile.replace(/\.cjs$/, '.json'), `${JSON.stringify(about)}\n`);
  return { outfile, bytes: bundle.length };
}
