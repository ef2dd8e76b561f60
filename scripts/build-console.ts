/** `npm run build:console`: builds the web application into dist/console, unless it is there and newer than its sources. */
import path from 'node:path';
import process from 'node:process';
import { buildConsole, sizeOfConsole } from './build-console/build.ts';

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

const { folder, isNew } = await buildConsole();
const { scripts, styles, lazy } = await sizeOfConsole();
process.stdout.write(`${path.relative(process.cwd(), folder)}${isNew ? '' : ' (unchanged)'}, sizes with brotli\n`);
process.stdout.write(`  first page: ${kilobytes(scripts)} of scripts, ${kilobytes(styles)} of styles\n`);
for (const { file, bytes } of lazy) process.stdout.write(`  when needed: ${kilobytes(bytes).padStart(9)}  ${path.basename(file)}\n`);
