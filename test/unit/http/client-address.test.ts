import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { clientAddress, trustedProxies } from '../../../server/http/client-address.ts';

const from = (remoteAddress: string, forwarded?: string | string[]) =>
  ({ socket: { remoteAddress }, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

test.each<[string, string[], IncomingMessage, string]>([
  ['no proxy is trusted', [], from('198.51.100.1', '203.0.113.9'), '198.51.100.1'],
  ['one proxy', ['198.51.100.0/24'], from('198.51.100.1', '203.0.113.9'), '203.0.113.9'],
  ['two proxies', ['198.51.100.1', '10.0.0.0/8'], from('198.51.100.1', '203.0.113.9, 10.1.1.1'), '203.0.113.9'],
  ['a stranger lies', ['198.51.100.1'], from('198.51.100.1', '1.1.1.1, 203.0.113.9'), '203.0.113.9'],
  ['garbage is not believed', ['198.51.100.1'], from('198.51.100.1', 'evil, <x>'), '198.51.100.1'],
  ['no header', ['198.51.100.1'], from('198.51.100.1'), '198.51.100.1'],
  ['several headers', ['198.51.100.1'], from('198.51.100.1', ['1.1.1.1', '203.0.113.9']), '203.0.113.9'],
  ['IPv4 in IPv6', [], from('::ffff:192.0.2.4'), '192.0.2.4'],
  ['IPv6', ['fd00::/8'], from('fd00::1', '2001:db8::7'), '2001:db8::7'],
])('%s', (_name, trusted, request, expected) => {
  expect(clientAddress(request, trustedProxies(trusted))).toBe(expected);
});
