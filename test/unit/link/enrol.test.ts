import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readCredentials } from '../../../agent/link/credentials.ts';
import { enrol } from '../../../agent/link/enrol.ts';
import { asOrdinaryUser } from '../../harness/unprivileged.ts';

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
const run = (server = address(), file = 'credentials.json') =>
  enrol({ server, token: 'T0ken', name: 'depot', credentialsFile: path.join(folder, file) });

test('a token becomes a credentials file that only its owner can read', async () => {
  await run();
  expect(requests).toEqual([{ url: '/agent/v1/enrol', body: { token: 'T0ken', name: 'depot' } }]);
  const file = path.join(folder, 'credentials.json');
  expect(await readCredentials(file)).toEqual({ server: address(), agent_id: AGENT_ID, secret: 'S3cret' });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['credentials.json']);
});

test('a server with a base path is requested below that path', async () => {
  await run(`${address()}/signalbox/`);
  expect(requests[0]?.url).toBe('/signalbox/agent/v1/enrol');
});

test('an answer is limited in bytes, not characters', async () => {
  answer = { status: 200, body: { agent_id: AGENT_ID, secret: 'S3cret', note: '漢'.repeat(30_000) } };
  await expect(run()).rejects.toMatchObject({ code: 'refused', message: 'the answer is not that of a control plane' });
});

test('a used token is reported, and leaves nothing behind', async () => {
  answer = { status: 401, body: { message: 'this token was used' } };
  await expect(run()).rejects.toMatchObject({ code: 'unauthorized', message: expect.stringContaining('this token was used') });
  expect(await readdir(folder)).toEqual([]);
});

test('existing credentials are kept, and the token is not used', async () => {
  await writeFile(path.join(folder, 'credentials.json'), 'mine');
  await expect(run()).rejects.toMatchObject({ code: 'invalid' });
  expect(requests).toEqual([]);
});

test('a missing folder is created for its owner only', async () => {
  await run(address(), 'etc/signalbox/credentials.json');
  expect(await readdir(path.join(folder, 'etc/signalbox'))).toEqual(['credentials.json']);
  expect((await stat(path.join(folder, 'etc/signalbox'))).mode & 0o777).toBe(0o700);
});

test('a folder that was created for a failed enrolment is removed', async () => {
  answer = { status: 401, body: { message: 'this token was used' } };
  await expect(run(address(), 'etc/signalbox/credentials.json')).rejects.toMatchObject({ code: 'unauthorized' });
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  { case: 'a folder that may not be made', file: 'etc/credentials.json' },
  { case: 'a folder that may not be written', file: 'credentials.json' },
])('$case is reported with the reason, and the token is not used', async ({ file }) => {
  await chmod(folder, 0o555);
  const where = path.dirname(path.join(folder, file));
  await expect(asOrdinaryUser(() => run(address(), file))).rejects.toMatchObject({
    code: 'invalid',
    message: `${where} cannot be written: permission denied (EACCES)`,
  });
  expect(requests).toEqual([]);
});

test('credentials of another user are not replaced', async () => {
  await writeFile(path.join(folder, 'credentials.json'), 'theirs', { mode: 0o000 });
  await chmod(folder, 0o777);
  await expect(asOrdinaryUser(() => run())).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('already enrolled'),
  });
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

test('an unreachable server is distinguished from a refusal', async () => {
  await expect(run('http://127.0.0.1:1')).rejects.toMatchObject({ code: 'unreachable' });
  await expect(run('ftp://127.0.0.1')).rejects.toMatchObject({ code: 'refused' });
});

test('the error for missing credentials recommends an enrolment', async () => {
  const file = path.join(folder, 'other.json');
  await expect(readCredentials(file)).rejects.toMatchObject({
    code: 'invalid',
    message: `no credentials in ${file}: enrol this agent first`,
  });
});

test('credentials that this user may not read are not reported as missing', async () => {
  await run();
  const file = path.join(folder, 'credentials.json');
  await chmod(folder, 0o755);
  await chmod(file, 0o000);
  const [uid, failure] = await asOrdinaryUser(async () => [
    process.geteuid?.(),
    await readCredentials(file).catch((error: unknown) => error),
  ]);
  expect(failure).toMatchObject({ code: 'invalid', message: `${file}: this user (uid ${String(uid)}) may not read it` });
});

test('unreadable credentials are reported with the reason', async () => {
  await expect(readCredentials(folder)).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(/cannot be read: .*\(EISDIR\)$/),
  });
});

test.each([
  { case: 'half a file', content: '{"server": "htt' },
  { case: 'a file of something else', content: '{"server": 1}' },
])('$case is damaged, and the error names the file', async ({ content }) => {
  const file = path.join(folder, 'other.json');
  await writeFile(file, content);
  await expect(readCredentials(file)).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining(`${file} is damaged`) });
});
