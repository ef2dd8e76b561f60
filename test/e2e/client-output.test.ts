import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Output of `signalbox` into a pipe, which holds 64 kB until it is read. */
const ROUTERS = Array.from({ length: 5000 }, (_unused, n) => ({ id: `router-${n}`, identity: 'x'.repeat(100) }));
const server = http.createServer((_request, response) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: ROUTERS })),
);
const KEY = `01900000-0000-7000-8000-000000000001:01900000-0000-7000-8000-000000000002:${'s'.repeat(62)}`;
let words: string[];
let env: Record<string, string>;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  words = [path.resolve('client/main.ts'), 'routers', '--json'];
  env = { SIGNALBOX_SERVER: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, SIGNALBOX_KEY: KEY };
});
afterAll(() => server.close());

test('arrives completely', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, words, { env, maxBuffer: 10_000_000 });
  expect(JSON.parse(stdout)).toHaveLength(ROUTERS.length);
});

test('may be closed early by its reader without a failure', async () => {
  const program = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let complaints = '';
  program.stderr.on('data', (text: Buffer) => (complaints += text.toString()));
  program.stdout.once('data', () => program.stdout.destroy());
  const [code, signal] = (await once(program, 'exit')) as [number | null, string | null];
  expect({ code, signal, complaints }).toEqual({ code: 0, signal: null, complaints: '' });
});
