import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAll } from '../harness/read-all.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/** Lines for a shell, and the answer that is said to come. */
interface Example {
  commands: string;
  answer: unknown;
}

/** The examples of the section, in their order. */
async function readExamples(): Promise<Example[]> {
  const text = await readFile(path.join(ROOT, 'README.md'), 'utf8');
  const section = /^## The API by example\n([\s\S]*?)^## /m.exec(text)![1]!;
  const blocks = [...section.matchAll(/^```(sh|json)\n([\s\S]*?)^```$/gm)].map(([, kind, content]) => ({ kind, content: content! }));
  return blocks.flatMap(({ kind, content }, index) => {
    if (kind !== 'sh') return [];
    const next = blocks[index + 1];
    // A target that the agent of this test may reach: its world is this machine.
    return [{ commands: content.replaceAll('192.168.88.10', '127.0.0.1'), answer: next?.kind === 'json' ? (JSON.parse(next.content) as unknown) : undefined }];
  });
}

/** Between the outputs of two examples; no answer holds it. */
const MARK = '\u001e';

let world: World;
let folder: string;
beforeAll(async () => {
  world = await World.start();
  await world.routerIds();
  await waitUntil('a device is known', async () => (await world.caller.call<{ data: unknown[] }>('GET', '/arp/devices')).body.data.length > 0);
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-readme-'));
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

/** All in one shell, because later examples use what earlier ones have set. */
async function runInShell(examples: readonly Example[]): Promise<string[]> {
  const signalbox = `npx() { test "$1" = signalbox && shift && '${process.execPath}' '${path.join(ROOT, 'bin/signalbox.mjs')}' "$@"; }`;
  const script = ['set -euo pipefail', signalbox, ...examples.map(({ commands }) => `${commands}\nprintf '\\036'`)].join('\n');
  await writeFile(path.join(folder, 'examples.sh'), script);
  const env = { ...process.env, HOME: folder, SIGNALBOX: world.server.url, SANDBOX: world.server.sandboxUrl!, KEY: world.caller.apiKey };
  const shell = spawn('bash', ['examples.sh'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = await Promise.all([readAll(shell.stdout), readAll(shell.stderr), once(shell, 'exit')]);
  expect(shell.exitCode, `${stdout.toString()}\n${stderr.toString()}`).toBe(0);
  return stdout.toString().split(MARK);
}

/** The same names in the same places; of a list, its first record. */
function expectSameNames(actual: unknown, documented: unknown, at: string): void {
  if (Array.isArray(documented)) {
    expect(actual, at).toBeInstanceOf(Array);
    expectSameNames((actual as unknown[])[0], documented[0], `${at}[0]`);
  } else if (typeof documented === 'object' && documented !== null) {
    expect(Object.keys(actual as object).sort(), at).toEqual(Object.keys(documented).sort());
    for (const [name, value] of Object.entries(documented)) expectSameNames((actual as Record<string, unknown>)[name], value, `${at}.${name}`);
  }
}

function hasCurl(): boolean {
  if (spawnSync('curl', ['--version']).status === 0) return true;
  process.stdout.write('SKIPPED: the examples of the README need the Debian package curl\n');
  return false;
}

test.skipIf(!hasCurl())('the examples of the README run, and answer what it says', async () => {
  const examples = await readExamples();
  expect(examples.length).toBeGreaterThan(8);
  const outputs = await runInShell(examples);
  for (const [index, { commands, answer }] of examples.entries()) {
    if (answer !== undefined) expectSameNames(JSON.parse(outputs[index]!), answer, commands);
  }
  expect(outputs.join('\n')).toMatch(/^status +completed$/m);
  expect(outputs.join('\n')).toMatch(/^job\.loaded \d+ pending\njob\.running \d+ running\njob\.completed \d+ completed$/m);
});

test('the example in TypeScript runs', async () => {
  const text = await readFile(path.join(ROOT, 'README.md'), 'utf8');
  const [, example] = /^### From TypeScript\n[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(text)!;
  const settings = `const server = ${JSON.stringify(world.server.url)};\nconst key = ${JSON.stringify(world.caller.apiKey)};\n`;
  const file = path.join(folder, 'example.ts');
  await writeFile(file, settings + example!.replace('./client/', `${ROOT}/client/`));
  const program = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = await Promise.all([readAll(program.stdout), readAll(program.stderr), once(program, 'exit')]);
  expect(stderr.toString()).toBe('');
  expect(stdout.toString()).toMatch(/^router-0 \d+\n$/);
});
