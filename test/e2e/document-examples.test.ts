import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAll } from '../harness/read-all.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/**
 * Every block marked `sh` in these documents runs as it stands, each document in one shell. A block marked `json` behind it is the answer
 * it documents. Commands that are not run here are marked `console`.
 */

const ROOT = path.join(import.meta.dirname, '../..');

/** Lines for a shell, and the documented answer. */
interface Example {
  commands: string;
  answer: unknown;
}

/** What a document's examples print, beside the documented answers. */
const PRINTS: Record<string, RegExp> = {
  'docs/cli.md': /^status +completed$/m,
  'docs/webhooks.md': /^job\.loaded \d+ pending\njob\.running \d+ running\njob\.completed \d+ completed$/m,
};

/** The examples of a document in their order. */
async function readExamples(document: string): Promise<Example[]> {
  const text = await readFile(path.join(ROOT, document), 'utf8');
  const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, kind, content]) => ({ kind, content: content! }));
  return blocks.flatMap(({ kind, content }, index) => {
    if (kind !== 'sh') return [];
    const next = blocks[index + 1];
    // A target that the agent of this test may reach: its world is this machine.
    return [
      {
        commands: content.replaceAll('192.168.88.10', '127.0.0.1'),
        answer: next?.kind === 'json' ? (JSON.parse(next.content) as unknown) : undefined,
      },
    ];
  });
}

/** Named one by one: a command for an administrator that somebody marks `sh` by mistake must not run on the machine of who tests. */
const DOCUMENTS = [
  'README.md',
  ...['api', 'backups', 'cli', 'commands', 'forwards', 'information', 'jobs', 'webhooks'].map((page) => `docs/${page}.md`),
];
const examples = new Map(await Promise.all(DOCUMENTS.map(async (document) => [document, await readExamples(document)] as const)));

/** Between the outputs of two examples; no answer holds it. */
const MARK = '\u001e';

let world: World;
let folder: string;
beforeAll(async () => {
  world = await World.start();
  await world.routerIds();
  await waitUntil(
    'a device is known',
    async () => (await world.caller.call<{ data: unknown[] }>('GET', '/arp/devices')).body.data.length > 0,
  );
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-examples-'));
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

/** All in one shell and one folder, because later examples use what earlier ones have set. */
async function runInShell(cwd: string, commands: readonly string[]): Promise<string[]> {
  const signalbox = `npx() { test "$1" = signalbox && shift && '${process.execPath}' '${path.join(ROOT, 'bin/signalbox.mjs')}' "$@"; }`;
  const script = ['set -euo pipefail', signalbox, ...commands.map((lines) => `${lines}\nprintf '\\036'`)].join('\n');
  await writeFile(path.join(cwd, 'examples.sh'), script);
  const env = { ...process.env, HOME: cwd, SIGNALBOX: world.server.url, SANDBOX: world.server.sandboxUrl!, KEY: world.caller.apiKey };
  const shell = spawn('bash', ['examples.sh'], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
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
    for (const [name, value] of Object.entries(documented))
      expectSameNames((actual as Record<string, unknown>)[name], value, `${at}.${name}`);
  }
}

function hasCurl(): boolean {
  if (spawnSync('curl', ['--version']).status === 0) return true;
  process.stdout.write('SKIPPED: the examples of the documents need the Debian package curl\n');
  return false;
}

test('only these documents have blocks marked sh, and each has some', async () => {
  for (const [document, own] of examples) expect(own.length, document).toBeGreaterThan(0);
  expect([...examples.values()].flat().length).toBeGreaterThan(12);
  const all = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);
  for (const document of all)
    if (!examples.has(document))
      expect(await readExamples(document), `${document}: mark commands that no test runs as console`).toEqual([]);
});

test.skipIf(!hasCurl()).each(DOCUMENTS)('the examples of %s run and print what the document says', async (document) => {
  const cwd = await mkdtemp(path.join(folder, 'document-'));
  const own = examples.get(document)!;
  // The README says how to ask (`api`) and which router is meant (`$ROUTER`); all other pages build on that.
  const before = document === 'README.md' ? [] : examples.get('README.md')!.map(({ commands }) => commands);
  const outputs = (await runInShell(cwd, [...before, ...own.map(({ commands }) => commands)])).slice(before.length);
  for (const [index, { commands, answer }] of own.entries()) {
    if (answer !== undefined) expectSameNames(JSON.parse(outputs[index]!), answer, commands);
  }
  expect(outputs.join('\n')).toMatch(PRINTS[document] ?? /^/);
});

test('the example in TypeScript runs', async () => {
  const text = await readFile(path.join(ROOT, 'docs/api.md'), 'utf8');
  const [, example] = /^## From TypeScript\n[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(text)!;
  const settings = `const server = ${JSON.stringify(world.server.url)};\nconst key = ${JSON.stringify(world.caller.apiKey)};\n`;
  const file = path.join(folder, 'example.ts');
  await writeFile(file, settings + example!.replace('./client/', `${ROOT}/client/`));
  const program = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = await Promise.all([readAll(program.stdout), readAll(program.stderr), once(program, 'exit')]);
  expect(stderr.toString()).toBe('');
  expect(stdout.toString()).toMatch(/^router-0 \d+\n$/);
});
