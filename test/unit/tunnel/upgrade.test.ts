import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { bearerOf, offersSubprotocol, upgradePath } from '../../../server/platform/tunnel/upgrade.ts';

const request = (headers: Record<string, string>, url = '/'): IncomingMessage => ({ headers, url }) as unknown as IncomingMessage;

test.each([
  { header: 'Bearer abc:def', bearer: 'abc:def' },
  { header: 'bearer  abc', bearer: 'abc' },
  { header: 'Basic YTpi', bearer: undefined },
  { header: 'Bearer ', bearer: undefined },
  { header: 'Bearer two words', bearer: undefined },
  { header: `Bearer ${'x'.repeat(1025)}`, bearer: undefined },
  { header: undefined, bearer: undefined },
])('authorization $header', ({ header, bearer }) => {
  expect(bearerOf(request(header === undefined ? {} : { authorization: header }))).toBe(bearer);
});

test.each([
  { offered: 'signalbox.v1', ok: true },
  { offered: 'chat, signalbox.v1', ok: true },
  { offered: 'signalbox.v10', ok: false },
  { offered: '', ok: false },
])('subprotocol "$offered": $ok', ({ offered, ok }) => {
  expect(offersSubprotocol(request({ 'sec-websocket-protocol': offered }))).toBe(ok);
});

test('reads the path without its query', () => {
  expect(upgradePath(request({}, '/agent/v1/tunnel?x=1'))).toBe('/agent/v1/tunnel');
});
