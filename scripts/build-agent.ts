/** `npm run build:agent [-- FILE]`: bundles the agent into one file that runs on Node 24 without node_modules. */
import path from 'node:path';
import process from 'node:process';
import { buildAgent } from './build-agent/build.ts';

const { outfile, bytes } = await buildAgent(process.argv[2] === undefined ? undefined : path.resolve(process.argv[2]));
process.stdout.write(`${path.relative(process.cwd(), outfile)} ${(bytes / 1e6).toFixed(2)} MB\n`);
