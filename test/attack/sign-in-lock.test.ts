import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { FormBrowser } from '../harness/identity/browser.ts';
import type { Page } from '../harness/identity/browser.ts';
import { addUser, beginFlow, CodeFlow, discover, PASSWORD } from '../harness/identity/sign-in.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { World } from '../harness/world.ts';

/**
 * An attacker who guesses passwords must not lock users out. Every attempt here comes from 127.0.0.1, as it does for people in
 * one office, or for everybody when the proxy's address is not trusted.
 */

let world: World;
let clock: ManualClock;
let count = 0;
let email: string;
let userId: string;

beforeAll(async () => {
  // It starts at the real time, because openid-client checks tokens by it.
  clock = new ManualClock(Date.now());
  // Several control planes count by the clock of the database.
  world = await World.start({ routers: [], overrides: { clock }, spread: false });
});
afterAll(() => world.close());
beforeEach(async () => {
  // Longer than it takes until every count is back at zero.
  clock.advance(20 * 60_000);
  // The provider dates its records by the real time: with a clock that is hours ahead, the hourly sweep takes them for expired.
  clock.step(-20 * 60_000);
  email = `person-${(count += 1)}@example.org`;
  userId = await addUser(world, email, 'viewer');
});

async function openPage(browser = new FormBrowser(world.server.url)): Promise<{ browser: FormBrowser; page: Page }> {
  const flow = new CodeFlow(await discover(world), browser, `${world.server.url}/callback`);
  return { browser, page: await browser.open(await flow.url({ prompt: 'login' })) };
}

async function tryPassword(browser: FormBrowser | undefined, account: string, password: string): Promise<Page> {
  const opened = await openPage(browser);
  return opened.browser.submit(opened.page, '/login', { email: account, password });
}

/** 0: the browser went on to the application. */
const isIn = ({ status }: Page): boolean => status === 0 || status === 200;

/** Wrong passwords from a browser that nobody knows. @returns the last answer */
async function guess(times: number, accountOf: (n: number) => string): Promise<Page> {
  const { browser, page } = await openPage();
  let last = page;
  for (let n = 0; n < times; n += 1) last = await browser.submit(page, '/login', { email: accountOf(n), password: 'a guess' });
  return last;
}

/** A browser in which the person has signed in before, and does not have to any more. */
async function knownBrowser(): Promise<FormBrowser> {
  const browser = new FormBrowser(world.server.url);
  expect(isIn(await tryPassword(browser, email, PASSWORD))).toBe(true);
  return browser;
}

test('51 wrong passwords for invented accounts do not lock out a known browser behind the same address', async () => {
  const browser = await knownBrowser();
  expect((await guess(51, (n) => `invented-${count}-${n}@example.org`)).status).toBe(429);
  expect(isIn(await tryPassword(browser, email, PASSWORD))).toBe(true);
});

test('wrong passwords for an account do not lock out its owner in a known browser', async () => {
  const browser = await knownBrowser();
  expect((await guess(11, () => email)).status).toBe(429);
  expect(isIn(await tryPassword(browser, email, PASSWORD))).toBe(true);
});

test.each<[string, (n: number) => string, seconds: number]>([
  ['the account', () => email, 90],
  ['others behind the same address', (n) => `invented-${count}-${n}@example.org`, 18],
])('once the guessing is over, a browser that nobody knows waits a minute and a half at most: %s', async (_name, accountOf, seconds) => {
  const refused = await guess(60, accountOf);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(seconds);
  expect((await tryPassword(undefined, email, PASSWORD)).status).toBe(429);
  clock.advance(seconds * 1000);
  expect(isIn(await tryPassword(undefined, email, PASSWORD))).toBe(true);
});

test('setting the clock back does not prolong the lock', async () => {
  await guess(11, () => email);
  clock.step(-2 * 3600_000);
  try {
    const refused = await tryPassword(undefined, email, PASSWORD);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(90);
  } finally {
    clock.step(2 * 3600_000);
  }
});

test('a known browser is exempt only for the accounts that signed in there', async () => {
  const attacker = await knownBrowser();
  email = `victim-${count}@example.org`;
  await addUser(world, email, 'viewer');
  const answers: number[] = [];
  for (let n = 0; n < 11; n += 1) answers.push((await tryPassword(attacker, email, 'a guess')).status);
  expect(answers).toEqual([...Array<number>(10).fill(401), 429]);
});

test('a known browser is locked after ten wrong passwords too', async () => {
  const browser = await knownBrowser();
  const answers: number[] = [];
  for (let n = 0; n < 11; n += 1) answers.push((await tryPassword(browser, email, 'a guess')).status);
  expect(answers).toEqual([...Array<number>(10).fill(401), 429]);
});

test("a new password invalidates the browser's cookie", async () => {
  const browser = await knownBrowser();
  clock.advance(2000);
  await world.server.services.teams.setPassword(userId, 'another password');
  await guess(11, () => email);
  expect((await tryPassword(browser, email, 'another password')).status).toBe(429);
});

test('the cookie reveals nothing and is hidden from scripts and other sites', async () => {
  const flow = await beginFlow(world);
  const page = await flow.browser.open(await flow.url());
  const action = /<form[^>]* action="([^"]*\/login)"/.exec(page.html)![1]!;
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.html)![1]!;
  const answer = await fetch(new URL(action, page.url), {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: flow.browser.cookieHeader(new URL(action, page.url).pathname) },
    body: new URLSearchParams({ csrf, email, password: PASSWORD }),
  });
  const cookie = answer.headers.getSetCookie().find((line) => line.startsWith('signalbox-device='))!;
  expect(cookie).toMatch(/^signalbox-device=[\w-]{22}\.[\w-]{43}\.[\w-]{43}; Path=\/oidc; Max-Age=34560000; HttpOnly; SameSite=Lax$/);
  expect(Buffer.from(cookie.split(/[=;.]/)[3]!, 'base64url').toString('latin1')).not.toContain('person');
});

test('guesses of others do not prevent a signed-in user from changing the password', async () => {
  const { teams, identity } = world.server.services;
  await guess(11, () => email);
  const principal = { kind: 'user' as const, id: userId, teamId: world.caller.teamId, role: 'viewer' as const };
  await identity.changePassword(principal, '127.0.0.1', { current: PASSWORD, next: 'another password' });
  expect((await teams.checkPassword(email, 'another password')).matches).toBe(true);
});

test('endless page requests do not lock out a known browser behind the same address', async () => {
  const strict = await World.start({ routers: [], server: { SIGNALBOX_RATE_LIMIT_PER_MINUTE: '5' } });
  try {
    await addUser(strict, email, 'viewer');
    const flow = await beginFlow(strict);
    const page = await flow.browser.open(await flow.url());
    await flow.browser.submit(page, '/login', { email, password: PASSWORD });
    const flood = await Promise.all(Array.from({ length: 60 }, () => fetch(`${strict.server.url}/oidc/.well-known/openid-configuration`)));
    expect(flood.at(-1)!.status).toBe(429);
    expect((await flow.browser.open(await flow.url({ prompt: 'login' }))).status).toBe(200);
  } finally {
    await strict.close();
  }
});
