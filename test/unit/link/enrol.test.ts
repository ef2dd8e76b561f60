import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readCredentials } from '../../../agent/link/credentials.ts';
import { enrol } from '../../../agent/link/enrol.ts';

const AGENT_ID = '0198c0de-0000-7000-8000-000000000001';

let folder: string;
let server: http.Server;
let requests: { url: string | undefined; body: unknown }[];
let answer: { status: number; body: unknown };

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-enrol-'));
  requests = [];
  answer = { status: 200, body: { agent_id: AGENT_ID, secret: 'S3cret' } };
  server = http.createServer((request, response) => {
    void text(request).then((body) => {
      requests.push({ url: request.url, body: JSON.parse(body) });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const run = (server = address()) =>
  enrol({ server, token: 'T0ken', name: 'depot', credentialsFile: path.join(folder, 'credentials.json') });

test('a token becomes a credentials file that only its owner can read', async () => {
  await run();
  expect(requests).toEqual([{ url: '/agent/v1/enrol', body: { token: 'T0ken', name: 'depot' } }]);
  const file = path.join(folder, 'credentials.json');
  expect(await readCredentials(file)).toEqual({ server: address(), agent_id: AGENT_ID, secret: 'S3cret' });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['credentials.json']);
});

test('a server below a path is asked below that path', async () => {
  await run(`${address()}/signalbox/`);
  expect(requests[0]?.url).toBe('/signalbox/agent/v1/enrol');
});

test('a token that is used up says so, and leaves nothing behind', async () => {
  answer = { status: 401, body: { message: 'this token was used' } };
  await expect(run()).rejects.toMatchObject({ code: 'unauthorized', message: expect.stringContaining('this token was used') });
  expect(await readdir(folder)).toEqual([]);
});

test('credentials that exist are kept, and the token is not spent', async () => {
  await writeFile(path.join(folder, 'credentials.json'), 'mine');
  await expect(run()).rejects.toMatchObject({ code: 'invalid' });
  expect(requests).toEqual([]);
});

test.each([
  { case: 'an answer of something else', body: { hello: 'world' }, code: 'refused' },
  { case: 'an answer without end', body: 'x'.repeat(200_000), code: 'refused' },
])('$case is refused', async ({ body, code }) => {
  answer = { status: 200, body };
  await expect(run()).rejects.toMatchObject({ code });
  expect(await readdir(folder)).toEqual([]);
});

test('no server at all is told apart from a refusal', async () => {
  await expect(run('http://127.0.0.1:1')).rejects.toMatchObject({ code: 'unreachable' });
  await expect(run('ftp://127.0.0.1')).rejects.toMatchObject({ code: 'refused' });
});

test.each([
  { case: 'a missing file', content: undefined },
  { case: 'half a file', content: '{"server": "htt' },
  { case: 'a file of something else', content: '{"server": 1}' },
])('$case is not a credential, and the error names the file', async ({ content }) => {
  const file = path.join(folder, 'other.json');
  if (content !== undefined) await writeFile(file, content);
  await expect(readCredentials(file)).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining(file) });
});
