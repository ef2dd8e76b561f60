import { once } from 'node:events';
import net from 'node:net';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { World } from '../harness/world.ts';

/** Ambiguous HTTP requests are refused or read in the one safe way. */

let world: World;
beforeAll(async () => {
  world = await World.start({ routers: [], server: { SIGNALBOX_CORS_ORIGINS: 'https://console.example.net' } });
});
afterAll(async () => world.close());

/** @returns everything that the server says until it closes the connection */
async function say(text: string, { url } = world.server): Promise<string> {
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
  socket.write(text.replaceAll('KEY', world.caller.apiKey));
  await once(socket, 'close');
  return answer;
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
const answersIn = (answer: string): number => answer.split('HTTP/1.1 ').length - 1;
const get = (path: string, ...headers: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers, 'Connection: close', '', ''].join('\r\n');
const post = (body: string, ...headers: string[]): string =>
  [
    'POST /api/sites HTTP/1.1',
    'Host: localhost',
    'Authorization: Bearer KEY',
    'Content-Type: application/json',
    ...headers,
    'Connection: close',
    '',
    body,
  ].join('\r\n');

describe('request smuggling', () => {
  test.each([
    ['a length and chunks', post('0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', 'Content-Length: 6', 'Transfer-Encoding: chunked')],
    ['two lengths', post('{}GET /healthz HTTP/1.1\r\n\r\n', 'Content-Length: 2', 'Content-Length: 28')],
    ['a length with a sign', post('{}', 'Content-Length: +2')],
    ['chunks by another name', post('0\r\n\r\n', 'Transfer-Encoding: xchunked')],
    ['a space before the colon', post('0\r\n\r\n', 'Transfer-Encoding : chunked')],
    ['chunks that end in bare line feeds', post('2\n{}\n0\n\n', 'Transfer-Encoding: chunked')],
    ['bare line feeds', 'GET /healthz HTTP/1.1\nHost: x\n\n'],
    ['a folded header', get('/healthz', 'X-A: a\r\n b')],
    ['a NUL in a header', get('/healthz', 'X-A: a\0b')],
    ['two hosts', get('/healthz', 'Host: elsewhere')],
    ['two credentials', get('/api/me', 'Authorization: Bearer KEY', 'Authorization: Bearer other')],
  ])('%s: is refused once, and the connection is closed', async (_what, text) => {
    const answer = await say(text);
    expect([statusOf(answer), answersIn(answer)]).toEqual([400, 1]);
  });

  test('refuses a compressed body instead of reading it as plain text', async () => {
    const answer = await say(post('{"name": "north"}', 'Content-Encoding: gzip', 'Content-Length: 17'));
    expect(statusOf(answer)).toBe(415);
  });
});

describe('a path', () => {
  test.each([
    '//api/me',
    '/API/me',
    '/api/./me',
    '/api/x/../me',
    '/api/%2e%2e/api/me',
    '/api%2fme',
    '/api\\me',
    '/api/me;a=b',
    '/api/me%00',
    '/api/me.',
    '/oidc/../api/me',
    '/oidc/%2e%2e/api/me',
  ])('%s is not /api/me', async (path) => {
    expect(statusOf(await say(get(path, 'Authorization: Bearer KEY')))).toBe(404);
  });

  test.each(['/docs/static/..%2f..%2f..%2fpackage.json', '/docs/static/%2e%2e/%2e%2e/package.json', '/docs/static/%00'])(
    '%s serves no file',
    async (path) => {
      expect(statusOf(await say(get(path)))).toBeGreaterThanOrEqual(400);
    },
  );

  test('in absolute form is served as this server’s, and its host name is not echoed', async () => {
    const answer = await say(get('http://elsewhere.example/oidc/.well-known/openid-configuration', 'X-Forwarded-Host: elsewhere.example'));
    expect(answer).not.toContain('elsewhere');
  });
});

describe('a method', () => {
  test('is taken from the request line', async () => {
    const { data } = (await world.caller.call<{ data: { id: string } }>('POST', '/api/sites', { name: 'stays' })).body;
    const overrides = ['X-HTTP-Method-Override: DELETE', 'X-HTTP-Method: DELETE', 'X-Method-Override: DELETE'];
    await say(get(`/api/sites/${data.id}?_method=DELETE`, 'Authorization: Bearer KEY', ...overrides));
    expect((await world.caller.call<{ data: { id: string }[] }>('GET', '/api/sites')).body.data.map(({ id }) => id)).toContain(data.id);
  });

  test.each(['TRACE / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n'])(
    '%j does nothing',
    async (text) => {
      expect(await say(text)).not.toContain(' 200 ');
    },
  );
});

describe('an upgrade to an unknown protocol', () => {
  test.each(['h2c', 'TLS/1.0', 'websocket2'])('to %s is ignored, and the request is answered', async (protocol) => {
    const answer = await say(
      get('/api/me', 'Authorization: Bearer KEY', `Upgrade: ${protocol}`).replace('Connection: close', 'Connection: Upgrade, close'),
    );
    expect(statusOf(answer)).toBe(200);
  });

  test('to a WebSocket is refused on a route without WebSocket', async () => {
    const answer = await say(
      get('/api/me', 'Authorization: Bearer KEY', 'Upgrade: websocket').replace('Connection: close', 'Connection: Upgrade'),
    );
    expect(statusOf(answer)).toBe(404);
  });
});

describe('another origin', () => {
  test.each([
    'https://evil.example',
    'null',
    'https://console.example.net.evil.example',
    'http://console.example.net',
    'https://CONSOLE.example.net',
  ])('%s may not read answers', async (origin) => {
    const answer = await fetch(`${world.server.url}/api/me`, { headers: { origin, authorization: `Bearer ${world.caller.apiKey}` } });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('a page with the origin null cannot request the tokens of a native program', async () => {
    const client = { name: 'App', kind: 'native', role: 'viewer', redirect_uris: ['net.example.app:/callback'] };
    const { data } = (await world.caller.call<{ data: { id: string } }>('POST', '/api/clients', client)).body;
    const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: data.id, refresh_token: 'x' });
    const answer = await fetch(`${world.server.url}/oidc/token`, { method: 'POST', headers: { origin: 'null' }, body });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('an expensive body', () => {
  test.each([
    ['a number of a million digits', `{"id": ${'9'.repeat(1_000_000)}, "name": "x"}`],
    ['forty thousand long numbers', `{"id": 1, "name": "x", "more": [${'99999999999999999999,'.repeat(40_000)}1]}`],
    ['half a million levels', '['.repeat(500_000)],
  ])('%s delays no other request', async (_what, body) => {
    const headers = { authorization: `Bearer ${world.caller.apiKey}`, 'content-type': 'application/json' };
    for (const url of [`${world.server.sandboxUrl}/plants`, `${world.server.url}/api/sites`]) {
      const before = process.threadCpuUsage();
      const answer = await fetch(url, { method: 'POST', headers, body });
      await answer.text();
      // Processor time of server and caller, so that a busy machine changes nothing. A million digits took 360 ms before.
      expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(250);
    }
  });

  test.each([
    '{"__proto__": {"role": "admin"}, "name": "x"}',
    '{"constructor": {"prototype": {}}, "name": "x"}',
    String.raw`{"\u005f_proto__": 1, "name": "x"}`,
  ])('%s is refused as a body', async (body) => {
    const answer = await say(post(body, `Content-Length: ${body.length}`));
    expect([statusOf(answer), ({} as { role?: string }).role]).toEqual([422, undefined]);
  });
});
