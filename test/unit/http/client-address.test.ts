import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { createApp } from '../../../server/platform/http/app.ts';
import { clientAddress, proxyRule, trustedProxies } from '../../../server/platform/http/client-address.ts';
import { silentLog } from '../../harness/silent-log.ts';

const from = (remoteAddress: string, forwarded?: string | string[]) =>
  ({ socket: { remoteAddress }, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

test.each<[string, string[], IncomingMessage, string]>([
  ['no proxy is trusted', [], from('198.51.100.1', '203.0.113.9'), '198.51.100.1'],
  ['one proxy', ['198.51.100.0/24'], from('198.51.100.1', '203.0.113.9'), '203.0.113.9'],
  ['two proxies', ['198.51.100.1', '10.0.0.0/8'], from('198.51.100.1', '203.0.113.9, 10.1.1.1'), '203.0.113.9'],
  ['a stranger lies', ['198.51.100.1'], from('198.51.100.1', '1.1.1.1, 203.0.113.9'), '203.0.113.9'],
  ['garbage is not believed', ['198.51.100.1'], from('198.51.100.1', 'evil, <x>'), '198.51.100.1'],
  ['a port is no part of it', ['198.51.100.1'], from('198.51.100.1', '203.0.113.9:50123'), '203.0.113.9'],
  ['nor is one of IPv6', ['198.51.100.1'], from('198.51.100.1', '[2001:db8::7]:50123'), '2001:db8::7'],
  ['garbage behind a trusted hop', ['198.51.100.1', '10.0.0.0/8'], from('198.51.100.1', '203.0.113.9, evil, 10.1.1.1'), '10.1.1.1'],
  ['no header', ['198.51.100.1'], from('198.51.100.1'), '198.51.100.1'],
  ['several headers', ['198.51.100.1'], from('198.51.100.1', ['1.1.1.1', '203.0.113.9']), '203.0.113.9'],
  ['IPv4 in IPv6', [], from('::ffff:192.0.2.4'), '192.0.2.4'],
  ['IPv6', ['fd00::/8'], from('fd00::1', '2001:db8::7'), '2001:db8::7'],
])('%s', (_name, trusted, request, expected) => {
  expect(clientAddress(request, trustedProxies(trusted))).toBe(expected);
});

test('with `on` only the directly connected proxy is trusted, and not the header entries it received', () => {
  expect(clientAddress(from('198.51.100.1', '1.1.1.1, 203.0.113.9'), proxyRule(true))).toBe('203.0.113.9');
  expect(clientAddress(from('198.51.100.1', '203.0.113.9'), proxyRule(false))).toBe('198.51.100.1');
});

test.each([
  'evil',
  '<x>',
  '203.0.113.9:50123',
  '[2001:db8::7]:50123',
  '203.0.113.9, evil',
  'evil, 203.0.113.9',
  '203.0.113.9, evil, 10.1.1.1',
  ',',
  '10.1.1.1,',
  '203.0.113.9\t',
])('Fastify finds the same client as the tunnel does, also in %j', async (header) => {
  const rule = proxyRule(['127.0.0.1', '10.0.0.0/8']);
  const app = createApp({ log: silentLog, now: () => 0, isTrustedProxy: rule });
  app.get('/ip', async (request) => ({ ip: request.ip }));
  const { ip } = (await app.inject({ url: '/ip', headers: { 'x-forwarded-for': header } })).json<{ ip: string }>();
  expect(ip).toBe(clientAddress(from('127.0.0.1', header), rule));
  await app.close();
});

test('Fastify finds the same client as the tunnel does', async () => {
  const forwarded = { 'x-forwarded-for': '1.1.1.1, 203.0.113.9' };
  for (const [trustProxy, expected] of [
    [true, '203.0.113.9'],
    [false, '127.0.0.1'],
    [['127.0.0.1'], '203.0.113.9'],
    [['10.0.0.1'], '127.0.0.1'],
  ] as const) {
    const app = createApp({ log: silentLog, now: () => 0, isTrustedProxy: proxyRule(trustProxy) });
    app.get('/ip', async (request) => ({ ip: request.ip }));
    expect((await app.inject({ url: '/ip', headers: forwarded })).json()).toEqual({ ip: expected });
    await app.close();
  }
});
