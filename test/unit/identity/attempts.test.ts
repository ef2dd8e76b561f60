import { beforeEach, expect, test } from 'vitest';
import { SignInAttempts } from '../../../server/identity/sign-in/attempts.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

let clock: ManualClock;
let attempts: SignInAttempts;
beforeEach(() => {
  clock = new ManualClock();
  attempts = new SignInAttempts(() => clock.now());
});

const begin = (account: string, source: string, passwordSince = 0): number | undefined => attempts.begin({ account, passwordSince, source });
const fail = (times: number, account: string, address: string): void => {
  for (let i = 0; i < times; i += 1) begin(account, address);
};

test('an account takes ten wrong passwords in a quarter of an hour, from wherever', () => {
  for (let i = 0; i < 10; i += 1) expect(begin('ada', `192.0.2.${i}`)).toBeUndefined();
  expect(begin('ada', '192.0.2.99')).toBe(900);
  expect(begin('bob', '192.0.2.99')).toBeUndefined();
  clock.advance(14 * 60_000);
  expect(begin('ada', '192.0.2.99')).toBe(60);
  clock.advance(60_000);
  expect(begin('ada', '192.0.2.99')).toBeUndefined();
});

test('an address takes fifty, for whomever', () => {
  for (let i = 0; i < 50; i += 1) expect(begin(`user${i}`, '192.0.2.1')).toBeUndefined();
  expect(begin('ada', '192.0.2.1')).toBe(900);
  expect(begin('ada', '192.0.2.2')).toBeUndefined();
});

test('a right password gives the account a fresh start, and the address its attempt', () => {
  fail(9, 'ada', '192.0.2.1');
  expect(begin('ada', '192.0.2.1')).toBeUndefined();
  attempts.succeed({ account: 'ada', passwordSince: 0, source: '192.0.2.1' });
  for (let i = 0; i < 10; i += 1) expect(begin('ada', '192.0.2.3')).toBeUndefined();
  expect(begin('ada', '192.0.2.3')).toBe(900);
  for (let i = 0; i < 41; i += 1) expect(begin(`user${i}`, '192.0.2.1')).toBeUndefined();
  expect(begin('bob', '192.0.2.1')).toBe(900);
});

test('a new password has not been guessed at yet', () => {
  fail(10, 'ada', '192.0.2.1');
  expect(begin('ada', '192.0.2.2')).toBe(900);
  expect(begin('ada', '192.0.2.2', 1000)).toBeUndefined();
});

test('one subscriber’s IPv6 network is one address, however it is written', () => {
  for (let i = 0; i < 50; i += 1) begin(`user${i}`, `2001:db8::${i.toString(16)}`);
  expect(begin('ada', '2001:db8:0:0:ffff::1')).toBe(900);
  expect(begin('ada', '2001:db8:0:1::1')).toBeUndefined();
});

test('an IPv4 address that comes as IPv6 is the same', () => {
  for (let i = 0; i < 50; i += 1) begin(`user${i}`, i % 2 === 0 ? '::ffff:192.0.2.1' : '192.0.2.1');
  expect(begin('ada', '192.0.2.1')).toBe(900);
});
