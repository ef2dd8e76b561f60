import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../../client/cli/run.ts';

/** A router's words reach the terminal of an engineer, who uses `signalbox`: none of them may move the cursor or turn the text. */

const EVIL = 'a\u001b]0;owned\u0007b\u009b31mc\u202Ed\re';
const KEY = `01900000-0000-7000-8000-000000000001:01900000-0000-7000-8000-000000000002:${'s'.repeat(62)}`;

let answer: { status: number; body: object };
const server = http.createServer((_request, response) => {
  const type = answer.status === 200 ? 'application/json' : 'application/problem+json';
  response.writeHead(answer.status, { 'content-type': type }).end(JSON.stringify(answer.body));
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

async function printed(words: string[]): Promise<string> {
  let text = '';
  const print = (part: string): void => void (text += part);
  const env = { SIGNALBOX_SERVER: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, SIGNALBOX_KEY: KEY };
  await runCli(words, { stdout: print, stderr: print, readInput: async () => '', env, signal: new AbortController().signal, columns: 100 });
  return text;
}

const forward = { id: 'f', router_id: 'r', dst_address: '10.0.0.1', dst_port: 22, refused: true, way_reason: EVIL, connect: null };

test.each<[string, string[], { status: number; body: object }]>([
  ['the name of a property', ['run', 'edge', '/ip/address/print'], { status: 200, body: { status: 'success', data: [{ [EVIL]: '1' }] } }],
  [
    'the names of a table',
    ['run', 'edge', '/ip/address/print'],
    { status: 200, body: { status: 'success', data: [{ [EVIL]: '1' }, { [EVIL]: '2' }] } },
  ],
  ['a value', ['run', 'edge', '/ip/address/print'], { status: 200, body: { status: 'success', data: [{ comment: EVIL }] } }],
  ['a line of an export', ['run', 'edge', '/export'], { status: 200, body: { status: 'success', data: [{ line: EVIL }] } }],
  [
    'a refusal',
    ['run', 'edge', '/ip/address/print'],
    {
      status: 422,
      body: { type: 'about:blank', title: EVIL, status: 422, code: 'rejected_by_router', detail: EVIL, errors: { [EVIL]: [EVIL, EVIL] } },
    },
  ],
  ['why a forward is refused', ['forward', 'open', 'edge', '10.0.0.1:22', '--from', '192.0.2.1/32'], { status: 200, body: forward }],
])('%s', async (_what, words, given) => {
  answer = given;
  const text = await printed(words);
  expect(text).toMatch(/owned|1/);
  // Line ends are the program's own.
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/u);
});
