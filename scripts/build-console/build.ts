import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { glob, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import zlib from 'node:zlib';

const root = path.resolve(import.meta.dirname, '../..');
const folder = path.join(root, 'dist', 'console');
/** Names the sources of the build that is there. */
const stamp = path.join(folder, '.sources');
/** Everything that decides what the build holds. */
const SOURCES = ['console/**/*.*', 'client/*.ts', 'package-lock.json', 'scripts/build-console/*.ts'];

/** A build takes some two seconds; on a busy machine much longer. */
const BUILD_MS = 120_000;

const run = promisify(execFile);
const brotli = promisify(zlib.brotliCompress);
const gzip = promisify(zlib.gzip);

export interface ConsoleBuild {
  folder: string;
  /** False: the build that was there is of the same sources. */
  isNew: boolean;
}

/** @throws Error with Vite's words for sources that do not build */
export async function buildConsole(): Promise<ConsoleBuild> {
  const sources = await digestOfSources();
  if (sources === readStamp()) return { folder, isNew: false };
  // Beside the finished place: a server may be reading that one, and several test files may build at once.
  const draft = path.join(root, 'dist', `console-${process.pid}`);
  try {
    await viteBuild(draft);
    for await (const file of glob('assets/*.{js,css,svg}', { cwd: draft })) await compress(path.join(draft, file));
    await writeFile(path.join(draft, '.sources'), sources);
    await putInPlace(draft, sources);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return { folder, isNew: true };
}

/** In a process of its own: Vite takes NODE_ENV from the process, and under the test runner that would make React's development build. */
async function viteBuild(outDir: string): Promise<void> {
  const vite = path.join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  await run(process.execPath, [vite, 'build', path.join(root, 'console'), '--outDir', outDir, '--logLevel', 'warn'], {
    env: { ...process.env, NODE_ENV: 'production' },
    timeout: BUILD_MS,
  });
}

async function putInPlace(draft: string, sources: string): Promise<void> {
  const old = `${draft}-old`;
  await rename(folder, old).catch(ignoreMissing);
  try {
    await rename(draft, folder);
  } catch (error) {
    // Another process was faster; its build is as good when its sources are the same.
    if (readStamp() !== sources) throw error;
  }
  await rm(old, { recursive: true, force: true });
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Bytes over the wire, compressed with brotli. */
export interface ConsoleSize {
  /** What the first page loads. */
  scripts: number;
  styles: number;
  /** What is loaded when it is needed, largest first. */
  lazy: readonly { file: string; bytes: number }[];
}

export async function sizeOfConsole(): Promise<ConsoleSize> {
  const page = await readFile(path.join(folder, 'index.html'), 'utf8');
  const first = new Set([...page.matchAll(/"\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, file]) => file!));
  const files: { file: string; bytes: number }[] = [];
  for await (const file of glob('assets/*.{js,css}', { cwd: folder })) files.push({ file, bytes: await wireBytes(file) });
  const sum = (ending: string): number =>
    files.filter(({ file }) => first.has(file) && file.endsWith(ending)).reduce((total, { bytes }) => total + bytes, 0);
  const lazy = files.filter(({ file }) => !first.has(file)).sort((one, other) => other.bytes - one.bytes);
  return { scripts: sum('.js'), styles: sum('.css'), lazy };
}

async function wireBytes(file: string): Promise<number> {
  const whole = path.join(folder, file);
  const { size } = await stat(`${whole}.br`).catch(() => stat(whole));
  return size;
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
