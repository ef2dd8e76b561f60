import { createServer } from 'node:http';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../../server/platform/http/app.ts';
import type { App } from '../../../server/platform/http/app.ts';
import { ClientErrors } from '../../../server/platform/http/client-errors.ts';
import { describeProblem } from '../../../server/platform/http/error-handler.ts';
import { describePlantError } from '../../../server/operations/sandbox/routes.ts';
import { readAll } from '../../harness/read-all.ts';

let app: App;
beforeEach(async () => {
  app = createApp({ log: pino({ level: 'silent' }), now: () => Date.now() });
  app.post('/things', async () => ({ done: true }));
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => app.close());

/** What comes back on a connection of its own until it is closed, as status, headers and body. */
async function say(text: string, port = (app.server.address() as AddressInfo).port) {
  const socket = net.connect(port, '127.0.0.1');
  socket.write(text);
  const [head, body] = (await readAll(socket)).toString().split('\r\n\r\n') as [string, string];
  const [statusLine, ...headers] = head.toLowerCase().split('\r\n');
  return { status: Number(statusLine!.split(' ')[1]), headers, body };
}

describe('what breaks off before there is a request is answered in the one form, and the connection is closed', () => {
  test.each([
    ['a line that is no HTTP', 'GARBAGE\r\n\r\n', 400, 'bad_request'],
    ['a method that nobody knows', 'FOO /things HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'bad_request'],
    ['a header without a name', 'GET /things HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n', 400, 'bad_request'],
    ['two lengths', 'POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400, 'bad_request'],
    ['headers that are too large', `GET /things HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['an address that is too long', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 'headers_too_large'],
  ])('%s', async (_name, text, status, code) => {
    const answer = await say(text);
    expect(answer.status).toBe(status);
    expect(answer.headers).toEqual(expect.arrayContaining(['content-type: application/problem+json; charset=utf-8', 'connection: close']));
    expect(JSON.parse(answer.body)).toMatchObject({
      status,
      code,
      title: expect.any(String),
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test('an invalid chunked body is rejected', async () => {
    const answer = await say(
      'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n',
    );
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'bad_request' });
  });

  test('an HTTP/1.1 request without a Host header is rejected', async () => {
    const answer = await say('GET /things HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'bad_request', message: 'the Host header is missing' });
  });

  test('the demonstration also sends its own error object here', async () => {
    const plants = createApp({ log: pino({ level: 'silent' }), now: () => Date.now(), describeError: describePlantError });
    await plants.listen({ host: '127.0.0.1', port: 0 });
    const { status, body } = await say('GARBAGE\r\n\r\n', (plants.server.address() as AddressInfo).port);
    expect([status, JSON.parse(body)]).toEqual([400, { error: 400, message: 'this is not an HTTP request' }]);
    await plants.close();
  });
});

describe('on a server with short limits', () => {
  const clientErrors = new ClientErrors((error) => describeProblem(error, 'the-request'));
  const server = createServer({ requestTimeout: 50, headersTimeout: 50, connectionsCheckingInterval: 20 }, (request, response) => {
    response.write('begun ');
    request.resume().on('end', () => response.end('done'));
  });
  beforeEach(async () => {
    server.on('clientError', (error, socket) => clientErrors.answer(error, socket as net.Socket));
    clientErrors.watch(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => server.close());
  const port = () => (server.address() as AddressInfo).port;

  test('a client that does not finish its headers gets 408', async () => {
    const { status, body } = await say('GET / HTTP/1.1\r\nHost: x\r\n', port());
    expect([status, JSON.parse(body)]).toMatchObject([408, { code: 'request_timeout', request_id: 'the-request' }]);
  });

  test('a started response is cut, not followed by another one', async () => {
    const socket = net.connect(port(), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.write('ZZ\r\n');
    expect((await readAll(socket)).toString()).not.toContain('HTTP/1.1 400');
  });
});
