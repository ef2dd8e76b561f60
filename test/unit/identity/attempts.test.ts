import { beforeEach, expect, test } from 'vitest';
import { AttemptsInMemory } from '../../../server/access/identity/sign-in/attempt-counters.ts';
import { SignInAttempts } from '../../../server/access/identity/sign-in/attempts.ts';
import type { Attempt } from '../../../server/access/identity/sign-in/attempts.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

let clock: ManualClock;
let attempts: SignInAttempts;
beforeEach(() => {
  clock = new ManualClock();
  attempts = new SignInAttempts(new AttemptsInMemory(() => clock.monotonic()));
});

const begin = (account: string, source: string, more: Partial<Attempt> = {}): Promise<number | undefined> =>
  attempts.begin({ account, passwordSince: 0, source, ...more });
const fail = async (times: number, account: string, source: string, more: Partial<Attempt> = {}): Promise<void> => {
  for (let i = 0; i < times; i += 1) expect(await begin(account, source, more)).toBeUndefined();
};

test('an account takes ten wrong passwords from one network, then one in a minute and a half', async () => {
  await fail(10, 'ada', '192.0.2.1');
  expect(await begin('ada', '192.0.2.1')).toBe(90);
  expect(await begin('bob', '192.0.2.1')).toBeUndefined();
  clock.advance(89_000);
  expect(await begin('ada', '192.0.2.1')).toBe(1);
  clock.advance(1000);
  expect(await begin('ada', '192.0.2.1')).toBeUndefined();
  expect(await begin('ada', '192.0.2.1')).toBe(90);
});

test('an attacker in another network does not use up a person’s own ten attempts', async () => {
  await fail(10, 'ada', '192.0.2.1');
  await fail(10, 'ada', '192.0.2.2');
});

test('attackers with many networks get thirty attempts for one account, then one in half a minute', async () => {
  for (let i = 0; i < 30; i += 1) expect(await begin('ada', `192.0.2.${i}`)).toBeUndefined();
  expect(await begin('ada', '192.0.2.99')).toBe(30);
  expect(await begin('bob', '192.0.2.99')).toBeUndefined();
});

test('a network takes fifty, for whomever, then one in 18 seconds', async () => {
  for (let i = 0; i < 50; i += 1) expect(await begin(`user${i}`, '192.0.2.1')).toBeUndefined();
  expect(await begin('ada', '192.0.2.1')).toBe(18);
  expect(await begin('ada', '192.0.2.2')).toBeUndefined();
  clock.advance(18_000);
  expect(await begin('ada', '192.0.2.1')).toBeUndefined();
});

test('a known browser has its own counter, independent of all others', async () => {
  for (let i = 0; i < 50; i += 1) await begin(`user${i}`, '192.0.2.1');
  await fail(10, 'ada', '192.0.2.2');
  await fail(10, 'ada', '192.0.2.1', { knownBrowser: 'laptop' });
  expect(await begin('ada', '192.0.2.1', { knownBrowser: 'laptop' })).toBe(90);
  await fail(10, 'ada', '192.0.2.1', { knownBrowser: 'phone' });
});

test('a correct password does not count as a wrong one', async () => {
  await fail(9, 'ada', '192.0.2.1');
  for (let i = 0; i < 50; i += 1) {
    expect(await begin('ada', '192.0.2.1')).toBeUndefined();
    await attempts.succeed({ account: 'ada', passwordSince: 0, source: '192.0.2.1' });
  }
  await fail(1, 'ada', '192.0.2.1');
  expect(await begin('ada', '192.0.2.1')).toBe(90);
});

test('an account may sign in sixty times at once, from whatever browsers and networks, then once a second', async () => {
  for (let i = 0; i < 60; i += 1) {
    const attempt = { account: 'ada', passwordSince: 0, source: `192.0.2.${i}`, knownBrowser: i % 2 === 0 ? `browser ${i}` : undefined };
    expect(await attempts.begin(attempt)).toBeUndefined();
    await attempts.succeed(attempt);
  }
  expect(await begin('ada', '192.0.2.99')).toBe(1);
  expect(await begin('ada', '192.0.2.99', { knownBrowser: 'browser 2' })).toBe(1);
  expect(await begin('bob', '192.0.2.99')).toBeUndefined();
  clock.advance(1000);
  expect(await begin('ada', '192.0.2.99')).toBeUndefined();
});

test('a new password starts new counters', async () => {
  await fail(10, 'ada', '192.0.2.1');
  expect(await begin('ada', '192.0.2.1')).toBe(90);
  expect(await begin('ada', '192.0.2.1', { passwordSince: 1000 })).toBeUndefined();
});

test('setting the clock changes nothing', async () => {
  await fail(10, 'ada', '192.0.2.1');
  clock.step(-2 * 3600_000);
  expect(await begin('ada', '192.0.2.1')).toBe(90);
  clock.step(4 * 3600_000);
  expect(await begin('ada', '192.0.2.1')).toBe(90);
});

test('one subscriber’s IPv6 network is one address, however it is written', async () => {
  for (let i = 0; i < 50; i += 1) await begin(`user${i}`, `2001:db8::${i.toString(16)}`);
  expect(await begin('ada', '2001:db8:0:0:ffff::1')).toBe(18);
  expect(await begin('ada', '2001:db8:0:1::1')).toBeUndefined();
});

test('an IPv4 address that comes as IPv6 is the same', async () => {
  for (let i = 0; i < 50; i += 1) await begin(`user${i}`, i % 2 === 0 ? '::ffff:192.0.2.1' : '192.0.2.1');
  expect(await begin('ada', '192.0.2.1')).toBe(18);
});
