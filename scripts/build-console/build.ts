import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { glob, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { build } from 'vite';

const root = path.resolve(import.meta.dirname, '../..');
const folder = path.join(root, 'dist', 'console');
/** Names the sources of the build that is there. */
const stamp = path.join(folder, '.sources');
/** Everything that decides what the build holds. */
const SOURCES = ['console/**/*.*', 'client/*.ts', 'package-lock.json', 'scripts/build-console/*.ts'];

const brotli = promisify(zlib.brotliCompress);
const gzip = promisify(zlib.gzip);

export interface ConsoleBuild {
  folder: string;
  /** False: the build that was there is of the same sources. */
  isNew: boolean;
  /** Of all scripts and styles together, compressed with brotli. */
  bytes: number;
}

/** @throws what Vite throws for sources that do not build */
export async function buildConsole(): Promise<ConsoleBuild> {
  const sources = await digestOfSources();
  const isNew = sources !== readStamp();
  if (isNew) {
    await build({ configFile: path.join(root, 'console', 'vite.config.ts'), logLevel: 'warn' });
    for await (const file of glob('assets/*.{js,css,svg}', { cwd: folder })) await compress(path.join(folder, file));
    await writeFile(stamp, sources);
  }
  return { folder, isNew, bytes: await totalBytes('assets/*.{js,css}.br') };
}

/** The server sends these instead of compressing each answer. Files of one packet stay as they are. */
async function compress(file: string): Promise<void> {
  const bytes = await readFile(file);
  if (bytes.length < 1400) return;
  await writeFile(`${file}.br`, await brotli(bytes));
  await writeFile(`${file}.gz`, await gzip(bytes, { level: 9 }));
}

async function digestOfSources(): Promise<string> {
  const files: string[] = [];
  for await (const file of glob(SOURCES, { cwd: root })) files.push(file);
  const hash = createHash('sha256');
  for (const file of files.sort()) hash.update(`${file}\0`).update(await readFile(path.join(root, file)));
  return hash.digest('hex');
}

function readStamp(): string | undefined {
  try {
    return readFileSync(stamp, 'utf8');
  } catch {
    return undefined;
  }
}

async function totalBytes(pattern: string): Promise<number> {
  let total = 0;
  for await (const file of glob(pattern, { cwd: folder })) total += (await stat(path.join(folder, file))).size;
  return total;
}
