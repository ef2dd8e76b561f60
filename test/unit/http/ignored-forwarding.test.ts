import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { proxyRule } from '../../../server/platform/http/client-address.ts';
import { IgnoredForwarding } from '../../../server/platform/http/ignored-forwarding.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

const request = (remoteAddress: string, headers: Record<string, string>) =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;

test('an untrusted proxy causes one warning, and then one an hour', () => {
  const clock = new ManualClock();
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (fields: object) => void warnings.push(fields) };
  const ignored = new IgnoredForwarding({ isTrusted: proxyRule(['10.0.0.1']), monotonic: () => clock.monotonic(), log });
  ignored.look(request('10.0.0.1', { 'x-forwarded-for': '203.0.113.9' }));
  ignored.look(request('10.0.0.2', {}));
  expect({ count: ignored.count, warnings }).toEqual({ count: 0, warnings: [] });
  for (let n = 0; n < 1000; n += 1) ignored.look(request('10.0.0.2', { 'x-forwarded-for': '203.0.113.9' }));
  ignored.look(request('10.0.0.3', { forwarded: 'for=203.0.113.9' }));
  expect(ignored.count).toBe(1001);
  expect(warnings).toEqual([{ source: '10.0.0.2', count: 1, reason: 'x-forwarded-for is not believed' }]);
  clock.step(5 * 3600_000);
  ignored.look(request('10.0.0.2', { 'x-forwarded-for': '203.0.113.9' }));
  expect(warnings).toHaveLength(1);
  clock.advance(3_600_000);
  ignored.look(request('10.0.0.3', { forwarded: 'for=203.0.113.9' }));
  expect(warnings[1]).toEqual({ source: '10.0.0.3', count: 1003, reason: 'forwarded is not believed' });
});
