/** `npm run build:console`: builds the web application into dist/console, unless it is there and newer than its sources. */
import path from 'node:path';
import process from 'node:process';
import { buildConsole } from './build-console/build.ts';

const { folder, isNew, bytes } = await buildConsole();
const first = `${(bytes / 1000).toFixed(0)} kB of scripts and styles, brotli`;
process.stdout.write(`${path.relative(process.cwd(), folder)}: ${first}${isNew ? '' : ' (unchanged)'}\n`);
