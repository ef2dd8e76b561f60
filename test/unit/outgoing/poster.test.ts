import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AddressRules } from '../../../server/platform/core/public-address.ts';
import type { ResolveName } from '../../../server/platform/outgoing/lookup.ts';
import { Poster } from '../../../server/platform/outgoing/poster.ts';
import { createSelfSigned } from '../../simulator/certificate.ts';
import { cut, hang, later, redirectTo, WebhookReceiver } from '../../harness/webhook-receiver.ts';
import type { Reply } from '../../harness/webhook-receiver.ts';
import { Stopwatch } from '../../harness/stopwatch.ts';

const DEADLINE_MS = 300;
const nobody: ResolveName = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
const never = new AbortController().signal;

let receiver: WebhookReceiver;
const closers: (() => Promise<void>)[] = [];

beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  closers.push(() => receiver.close());
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function poster(options: { allowLoopback?: boolean; resolve?: ResolveName } = {}): Poster {
  const made = new Poster({
    rules: { allowLoopback: options.allowLoopback ?? true },
    resolve: options.resolve ?? nobody,
    deadlineMs: DEADLINE_MS,
  });
  closers.push(() => made.close());
  return made;
}

const message = (url: string) => ({ url, headers: { 'webhook-id': '1' }, body: '{"type":"job.loaded"}' });

/** A server that sends `chunk` again and again to whoever asks for something. */
async function dripping(first: string, chunk: string): Promise<string> {
  const server = net.createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => {
      socket.write(first);
      const timer = setInterval(() => socket.write(chunk), 10);
      socket.on('close', () => clearInterval(timer));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('a message arrives complete, at its path and with its headers', async () => {
  expect(await poster().post(message(`${receiver.url}/jobs?team=1#part`), never)).toEqual({ outcome: 'delivered', status: 204 });
  expect(receiver.received).toMatchObject([
    {
      path: '/jobs?team=1',
      body: '{"type":"job.loaded"}',
      headers: { 'webhook-id': '1', 'content-type': 'application/json', 'user-agent': 'Signalbox-Webhooks/1' },
    },
  ]);
});

test('localhost may be named in development', async () => {
  const url = receiver.url.replace('127.0.0.1', 'localhost');
  expect(await poster().post(message(url), never)).toMatchObject({ outcome: 'delivered' });
});

describe('an answer', () => {
  const BIG = 'x'.repeat(1024 * 1024);
  test.each<[string, Reply, object]>([
    ['200 with a long body is a success', (response) => response.writeHead(200).end(BIG), { outcome: 'delivered', status: 200 }],
    ['299', 299, { outcome: 'delivered', status: 299 }],
    ['400', 400, { outcome: 'failed', status: 400, error: 'http_status' }],
    ['500', 500, { outcome: 'failed', status: 500, error: 'http_status' }],
    ['503 with Retry-After', later('120'), { outcome: 'failed', status: 503, retryAfter: '120' }],
    ['410', 410, { outcome: 'failed', status: 410, error: 'gone' }],
    ['304', 304, { outcome: 'failed', status: 304, error: 'redirected' }],
    ['none', hang, { outcome: 'failed', status: null, error: 'timed_out' }],
    ['a cut connection', cut, { outcome: 'failed', status: null, error: 'connection_lost' }],
    [
      'too long headers',
      (response) => response.writeHead(200, { big: 'x'.repeat(10_000) }).end(),
      { outcome: 'failed', status: null, error: 'answer_invalid' },
    ],
  ])('%s', async (_name, reply, result) => {
    receiver.reply = reply;
    expect(await poster().post(message(receiver.url), never)).toMatchObject(result);
  });

  test.each([301, 302, 303, 307, 308])('%d is not followed', async (status) => {
    const inside = await WebhookReceiver.start();
    closers.push(() => inside.close());
    receiver.reply = redirectTo(inside.url, status);
    expect(await poster().post(message(receiver.url), never)).toMatchObject({ outcome: 'failed', status, error: 'redirected' });
    expect(inside.connections).toBe(0);
  });

  test('that drips forever ends at the deadline', async () => {
    const stopwatch = new Stopwatch();
    expect(await poster().post(message(await dripping('HTTP/1.1 200 OK\r\nx: ', 'y')), never)).toMatchObject({
      outcome: 'failed',
      error: 'timed_out',
    });
    // The status has been said: the update has arrived, whatever comes after.
    expect(await poster().post(message(await dripping('HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n', 'y')), never)).toEqual({
      outcome: 'delivered',
      status: 200,
    });
    expect(stopwatch.ms).toBeLessThan(4 * DEADLINE_MS + 2000);
  });

  test('that never ends is not read to the end', async () => {
    let poured = 0;
    const pour = (response: ServerResponse): void => {
      while (!response.destroyed && response.write(BIG)) poured += BIG.length;
      response.once('drain', () => pour(response));
    };
    receiver.reply = (response) => {
      response.writeHead(200);
      pour(response);
    };
    const stopwatch = new Stopwatch();
    expect(await poster().post(message(receiver.url), never)).toEqual({ outcome: 'delivered', status: 200 });
    expect(stopwatch.ms).toBeLessThan(DEADLINE_MS + 2000);
    // What lies in the buffers of two sockets, and no more.
    expect(poured).toBeLessThan(16 * BIG.length);
  });

  test('that is not HTTP is reported as such', async () => {
    expect(await poster().post(message(await dripping('SSH-2.0-x\r\n', '\r\n')), never)).toMatchObject({
      outcome: 'failed',
      error: 'answer_invalid',
    });
  });
});

describe('nothing is connected to', () => {
  test.each([
    ['loopback outside development', () => receiver.url.replace('http:', 'https:'), 'address_refused'],
    ['http outside development', () => receiver.url, 'url_refused'],
    ['another spelling of loopback', () => `https://2130706433:${new URL(receiver.url).port}/`, 'address_refused'],
    ['localhost outside development', () => `https://localhost:${new URL(receiver.url).port}/`, 'address_refused'],
  ])('%s', async (_name, url, error) => {
    expect(await poster({ allowLoopback: false }).post(message(url()), never)).toEqual({
      outcome: 'failed',
      status: null,
      error,
      retryAfter: undefined,
    });
    expect(receiver.connections).toBe(0);
  });

  test('where a name leads to this machine, in development either', async () => {
    const resolve: ResolveName = () => Promise.resolve(['127.0.0.1']);
    const url = `https://rebind.example.com:${new URL(receiver.url).port}/`;
    expect(await poster({ resolve }).post(message(url), never)).toMatchObject({ error: 'address_refused' });
    expect(receiver.connections).toBe(0);
  });

  test('where a name has begun to lead to this machine: each attempt resolves the name again and uses the answer', async () => {
    let asked = 0;
    // As an attacker's name server answers: a private address as soon as somebody has looked.
    const resolve: ResolveName = () => {
      asked += 1;
      return Promise.resolve(['127.0.0.1', '::1', '10.0.0.1', '169.254.169.254']);
    };
    const strict = poster({ allowLoopback: false, resolve });
    const url = `https://rebind.example.com:${new URL(receiver.url).port}/`;
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect(await strict.post(message(url), never)).toMatchObject({ error: 'address_refused' });
    expect(asked).toBe(3);
    expect(receiver.connections).toBe(0);
  });
});

describe('no connection', () => {
  test('to a closed port', async () => {
    await receiver.close();
    expect(await poster().post(message(receiver.url), never)).toMatchObject({ error: 'connect_failed' });
  });

  test('to a name that does not exist', async () => {
    expect(await poster().post(message('https://missing.example.com/'), never)).toMatchObject({ error: 'name_not_found' });
  });

  test('to a name server that hangs', async () => {
    const resolve: ResolveName = () => new Promise(() => undefined);
    expect(await poster({ resolve }).post(message('https://slow.example.com/'), never)).toMatchObject({ error: 'timed_out' });
  });

  test('to a server with an untrusted certificate', async () => {
    const tls = await createSelfSigned('receiver');
    const secure = await WebhookReceiver.start({ tls });
    closers.push(() => secure.close());
    expect(await poster().post(message(secure.url), never)).toMatchObject({ outcome: 'failed', error: 'tls_failed' });
    expect(secure.received).toEqual([]);
  });

  test('to a URL that is none', async () => {
    expect(await poster().post(message(''), never)).toMatchObject({ outcome: 'failed', error: 'url_refused' });
  });
});

test('a stopped attempt does not count', async () => {
  receiver.reply = hang;
  const stop = new AbortController();
  const result = poster().post(message(receiver.url), stop.signal);
  stop.abort();
  expect(await result).toEqual({ outcome: 'stopped' });
});

describe('what a provider answers is read', () => {
  test('up to the limit, with its status and its headers', async () => {
    receiver.reply = (response) => response.writeHead(400, { 'x-reason': 'a' }).end(`{"error":"${'é'.repeat(5000)}"}`);
    const answer = await poster().ask(message(receiver.url), never, 100);
    expect(answer).toMatchObject({ outcome: 'answered', status: 400, headers: { 'x-reason': 'a' } });
    const { body } = answer as { body: string };
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(103);
    expect(body).toMatch(/^\{"error":"é+/);
  });

  test('as far as it came before the connection broke', async () => {
    const url = await dripping('HTTP/1.1 503 Busy\r\ncontent-length: 9999\r\n\r\ncome back later', '.');
    expect(await poster().ask(message(url), never, 4096)).toMatchObject({
      status: 503,
      body: expect.stringMatching(/^come back later\.*$/),
    });
  });

  test('not at all if nobody wants it', async () => {
    receiver.reply = (response) => response.writeHead(200).end('hello');
    expect(await poster().ask(message(receiver.url), never, 0)).toMatchObject({ status: 200, body: '' });
  });
});

describe('networks of the operator', () => {
  const PRIVATE = { allowLoopback: false, privateNetworks: ['127.0.0.0/8'] };
  const made = (rules: AddressRules, resolve: ResolveName = nobody): Poster => {
    const one = new Poster({ rules, resolve, deadlineMs: DEADLINE_MS });
    closers.push(() => one.close());
    return one;
  };

  test('may be posted to by address and by name, with http, too', async () => {
    const one = made(PRIVATE, () => Promise.resolve(['127.0.0.1']));
    expect(await one.post(message(receiver.url), never)).toMatchObject({ outcome: 'delivered' });
    const named = receiver.url.replace('127.0.0.1', 'ntfy.lan');
    expect(await one.post(message(named), never)).toMatchObject({ outcome: 'delivered' });
  });

  test.each<[string, AddressRules, ResolveName]>([
    ['another network', { allowLoopback: false, privateNetworks: ['10.0.0.0/8'] }, () => Promise.resolve(['127.0.0.1'])],
    ['a public address without TLS', PRIVATE, () => Promise.resolve(['1.1.1.1'])],
  ])('%s stays refused', async (_name, rules, resolve) => {
    const named = receiver.url.replace('127.0.0.1', 'ntfy.lan');
    expect(await made(rules, resolve).post(message(named), never)).toMatchObject({ outcome: 'failed', error: 'address_refused' });
    expect(receiver.connections).toBe(0);
  });

  describe('with a mark when it may come from a network of the operator', () => {
    const inside = (resolve: ResolveName = nobody): Poster => {
      const made = new Poster({ rules: { allowLoopback: false, privateNetworks: ['127.0.0.0/8'] }, resolve, deadlineMs: DEADLINE_MS });
      closers.push(() => made.close());
      return made;
    };

    test('by its address', async () => {
      expect(await inside().ask(message(receiver.url), never, 100)).toMatchObject({ status: 204, isPrivate: true });
      // Of a developer, there is nothing to hide.
      expect(await poster().ask(message(receiver.url), never, 100)).toMatchObject({ status: 204, isPrivate: false });
    });

    test('by what its name led to at the connection', async () => {
      const url = receiver.url.replace('127.0.0.1', 'Push.example.com');
      expect(await inside(() => Promise.resolve(['127.0.0.1'])).ask(message(url), never, 100)).toMatchObject({ isPrivate: true });
    });
  });
});
