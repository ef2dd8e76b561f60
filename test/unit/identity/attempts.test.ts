import { beforeEach, expect, test } from 'vitest';
import { SignInAttempts } from '../../../server/access/identity/sign-in/attempts.ts';
import type { Attempt } from '../../../server/access/identity/sign-in/attempts.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

let clock: ManualClock;
let attempts: SignInAttempts;
beforeEach(() => {
  clock = new ManualClock();
  attempts = new SignInAttempts(() => clock.monotonic());
});

const begin = (account: string, source: string, more: Partial<Attempt> = {}): number | undefined =>
  attempts.begin({ account, passwordSince: 0, source, ...more });
const fail = (times: number, account: string, source: string, more: Partial<Attempt> = {}): void => {
  for (let i = 0; i < times; i += 1) expect(begin(account, source, more)).toBeUndefined();
};

test('an account takes ten wrong passwords from one network, then one in a minute and a half', () => {
  fail(10, 'ada', '192.0.2.1');
  expect(begin('ada', '192.0.2.1')).toBe(90);
  expect(begin('bob', '192.0.2.1')).toBeUndefined();
  clock.advance(89_000);
  expect(begin('ada', '192.0.2.1')).toBe(1);
  clock.advance(1000);
  expect(begin('ada', '192.0.2.1')).toBeUndefined();
  expect(begin('ada', '192.0.2.1')).toBe(90);
});

test('an attacker in another network does not use up a person’s own ten attempts', () => {
  fail(10, 'ada', '192.0.2.1');
  fail(10, 'ada', '192.0.2.2');
});

test('attackers with many networks get thirty attempts for one account, then one in half a minute', () => {
  for (let i = 0; i < 30; i += 1) expect(begin('ada', `192.0.2.${i}`)).toBeUndefined();
  expect(begin('ada', '192.0.2.99')).toBe(30);
  expect(begin('bob', '192.0.2.99')).toBeUndefined();
});

test('a network takes fifty, for whomever, then one in 18 seconds', () => {
  for (let i = 0; i < 50; i += 1) expect(begin(`user${i}`, '192.0.2.1')).toBeUndefined();
  expect(begin('ada', '192.0.2.1')).toBe(18);
  expect(begin('ada', '192.0.2.2')).toBeUndefined();
  clock.advance(18_000);
  expect(begin('ada', '192.0.2.1')).toBeUndefined();
});

test('a known browser has its own counter, independent of all others', () => {
  for (let i = 0; i < 50; i += 1) begin(`user${i}`, '192.0.2.1');
  fail(10, 'ada', '192.0.2.2');
  fail(10, 'ada', '192.0.2.1', { knownBrowser: 'laptop' });
  expect(begin('ada', '192.0.2.1', { knownBrowser: 'laptop' })).toBe(90);
  fail(10, 'ada', '192.0.2.1', { knownBrowser: 'phone' });
});

test('a correct password does not count as a wrong one', () => {
  fail(9, 'ada', '192.0.2.1');
  for (let i = 0; i < 50; i += 1) {
    expect(begin('ada', '192.0.2.1')).toBeUndefined();
    attempts.succeed({ account: 'ada', passwordSince: 0, source: '192.0.2.1' });
  }
  fail(1, 'ada', '192.0.2.1');
  expect(begin('ada', '192.0.2.1')).toBe(90);
});

test('an account may sign in sixty times at once, from whatever browsers and networks, then once a second', () => {
  for (let i = 0; i < 60; i += 1) {
    const attempt = { account: 'ada', passwordSince: 0, source: `192.0.2.${i}`, knownBrowser: i % 2 === 0 ? `browser ${i}` : undefined };
    expect(attempts.begin(attempt)).toBeUndefined();
    attempts.succeed(attempt);
  }
  expect(begin('ada', '192.0.2.99')).toBe(1);
  expect(begin('ada', '192.0.2.99', { knownBrowser: 'browser 2' })).toBe(1);
  expect(begin('bob', '192.0.2.99')).toBeUndefined();
  clock.advance(1000);
  expect(begin('ada', '192.0.2.99')).toBeUndefined();
});

test('a new password starts new counters', () => {
  fail(10, 'ada', '192.0.2.1');
  expect(begin('ada', '192.0.2.1')).toBe(90);
  expect(begin('ada', '192.0.2.1', { passwordSince: 1000 })).toBeUndefined();
});

test('setting the clock changes nothing', () => {
  fail(10, 'ada', '192.0.2.1');
  clock.step(-2 * 3600_000);
  expect(begin('ada', '192.0.2.1')).toBe(90);
  clock.step(4 * 3600_000);
  expect(begin('ada', '192.0.2.1')).toBe(90);
});

test('one subscriber’s IPv6 network is one address, however it is written', () => {
  for (let i = 0; i < 50; i += 1) begin(`user${i}`, `2001:db8::${i.toString(16)}`);
  expect(begin('ada', '2001:db8:0:0:ffff::1')).toBe(18);
  expect(begin('ada', '2001:db8:0:1::1')).toBeUndefined();
});

test('an IPv4 address that comes as IPv6 is the same', () => {
  for (let i = 0; i < 50; i += 1) begin(`user${i}`, i % 2 === 0 ? '::ffff:192.0.2.1' : '192.0.2.1');
  expect(begin('ada', '192.0.2.1')).toBe(18);
});
