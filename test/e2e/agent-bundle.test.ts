import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AGENT_VERSION } from '../../agent/version.ts';

/** The agent in one file, as `npm run build:agent` makes it, away from the project and its node_modules. */

const BUILD = fileURLToPath(new URL('../../scripts/build-agent.ts', import.meta.url));
const SOURCE = fileURLToPath(new URL('../../bin/signalbox-agent.mjs', import.meta.url));
const OLDEST = 24;

let folder: string;
let bundle: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-bundle-'));
  bundle = path.join(folder, 'signalbox-agent.cjs');
  await promisify(execFile)(process.execPath, [BUILD, bundle], { timeout: 120_000 });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function run(node: string, ...args: string[]): Promise<{ code: number | string; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(node, [bundle, ...args], { cwd: folder, timeout: 120_000, env: {} }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr });
    });
  });
}

/** The machine's own Node, outside of every node_modules, where it is older than the agent needs. */
function oldNode(): { file: string; version: string } | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((name) => name !== '' && !name.includes('node_modules'));
  const files = [...new Set([...folders, '/usr/local/bin', '/usr/bin'])].map((name) => path.join(name, 'node'));
  return files
    .filter((file) => existsSync(file))
    .map((file) => ({ file, version: execFileSync(file, ['--version'], { encoding: 'utf8', timeout: 120_000 }).trim() }))
    .find(({ version }) => Number.parseInt(version.slice(1), 10) < OLDEST);
}

test('runs without node_modules', async () => {
  expect(await run(process.execPath, '--version')).toEqual({ code: 0, stdout: `signalbox-agent ${AGENT_VERSION}\n`, stderr: '' });
});

/**
 * What a program says of its young generation as it ends, while it makes garbage enough for any: the median of what it sees, because V8 gives
 * it some more for the moment in which it ends a collection of the whole heap.
 */
const REPORT = `
import v8 from 'node:v8';
import { writeFileSync } from 'node:fs';
process.on('exit', () => {
  let kept = [];
  const sizes = [];
  for (let i = 0; i < 1e6; i += 1) {
    kept.push({ i });
    if (kept.length > 5e4) kept = [];
    if (i % 2e4 === 0) sizes.push(v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size);
  }
  const median = sizes.sort((one, other) => one - other)[sizes.length / 2];
  if (/main[.]ts$|[.]cjs$/.test(process.argv[1])) writeFileSync(process.env.REPORT, String(median));
});`;

async function youngGeneration(file: string): Promise<number> {
  const preload = path.join(folder, 'report.mjs');
  const report = path.join(folder, 'young');
  await writeFile(preload, REPORT);
  const env = { ...process.env, NODE_OPTIONS: `--import=${preload}`, REPORT: report };
  await promisify(execFile)(process.execPath, [file, '--version'], { env, timeout: 120_000 });
  return Number(await readFile(report, 'utf8'));
}

test('has the same small young generation when run from source', async () => {
  const [fromSource, bundled] = [await youngGeneration(SOURCE), await youngGeneration(bundle)];
  // Two halves and what is being moved between them; left to itself V8 takes 32 MB and more.
  expect(bundled).toBeLessThanOrEqual(4 * 1024 * 1024);
  expect(fromSource).toBeLessThanOrEqual(4 * 1024 * 1024);
});

test('tells an older Node which version it needs', async (context) => {
  const node = oldNode();
  if (node === undefined) return context.skip('this machine has no Node older than 24');
  expect(await run(node.file, 'run')).toEqual({
    code: 1,
    stdout: '',
    stderr: `signalbox-agent needs Node 24 or later; this is ${node.version}. npm brings it: sudo npm install --global --prefix /usr/local node@24\n`,
  });
});
