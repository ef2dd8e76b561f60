import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asPasswordCaller } from '../../server/access/teams/service.ts';
import { passwordMatches } from '../../server/access/teams/passwords.ts';
import { passwordShares, PASSWORDS_WAITING } from '../../server/access/teams/password-turns.ts';
import { FormBrowser } from '../harness/identity/browser.ts';
import type { Page } from '../harness/identity/browser.ts';
import { addUser, CodeFlow, discover, PASSWORD } from '../harness/identity/sign-in.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/**
 * Strangers send passwords faster than they can be checked: Argon2 takes 20 ms of one of libuv's four threads. The limits of wrong passwords
 * do not help against strangers with many networks, or against many who use one account.
 */

/** What a sign-in from a known browser may take longer than twice its time at rest: others use the machine as well, and its processor. */
const NOISE_MS = 1500;
/** One from another browser waits for a password of each network that waits: docs/shared-resources.md. */
const STRANGER_MS = 6000;

let world: World;
let email: string;
let count = 0;

beforeAll(async () => {
  world = await World.start({ routers: [], server: { SIGNALBOX_TRUST_PROXY: '127.0.0.1' } });
});
afterAll(() => world.close());
beforeEach(async () => {
  email = `person-${(count += 1)}@example.org`;
  await addUser(world, email, 'viewer');
});

const from = (network: string): Record<string, string> => ({ 'x-forwarded-for': network });

/** A page of a sign-in, and the browser that has opened it. */
async function openPage(browser = new FormBrowser(world.server.url)): Promise<{ browser: FormBrowser; page: Page }> {
  const flow = new CodeFlow(await discover(world), browser, `${world.server.url}/callback`);
  return { browser, page: await browser.open(await flow.url({ prompt: 'login' })) };
}

/** How long the sign-in itself took. */
async function signIn(network: string, browser?: FormBrowser): Promise<{ page: Page; ms: number; browser: FormBrowser }> {
  const opened = await openPage(browser);
  const startedAt = performance.now();
  const page = await opened.browser.submit(opened.page, '/login', { email, password: PASSWORD }, from(network));
  return { page, ms: performance.now() - startedAt, browser: opened.browser };
}

/** Keeps `count` guesses under way until told to stop. @returns the statuses that it got */
function flood(count: number, guessOf: (n: number) => { network: string; account: string }): { stop: () => Promise<Map<number, number>> } {
  const statuses = new Map<number, number>();
  const stop = new AbortController();
  let guesses = 0;
  const rows = Array.from({ length: count }, async () => {
    const { browser, page } = await openPage();
    while (!stop.signal.aborted) {
      const { network, account } = guessOf(guesses++);
      const { status } = await browser.submit(page, '/login', { email: account, password: 'a guess' }, from(network));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      // Refused before a password is checked; those who ask on are in the process of the server, too.
      if (status !== 401) await pause(100);
    }
  });
  return {
    stop: async () => {
      stop.abort();
      await Promise.all(rows);
      return statuses;
    },
  };
}

const FLOODS: [string, (n: number) => { network: string; account: string }][] = [
  [
    'for one account, from many networks',
    (n) => ({ network: `198.18.${(n >> 8) & 255}.${n & 255}`, account: `victim-${count}-${Math.floor(n / 25)}@example.org` }),
  ],
  ['for invented accounts, from one network', (n) => ({ network: '198.51.100.7', account: `invented-${n}@example.org` })],
  [
    'for invented accounts, from many networks',
    (n) => ({ network: `198.18.${(n >> 8) & 255}.${n & 255}`, account: `invented-${n}@example.org` }),
  ],
];

describe('while strangers send passwords', () => {
  test.each(FLOODS)('%s, another person signs in', { retry: 2, timeout: 60_000 }, async (_name, guessOf) => {
    const { ms: atRest, browser: known } = await signIn('203.0.113.1');
    const attack = flood(30, guessOf);
    await pause(500);
    const stranger = await signIn('203.0.113.2');
    const again = await signIn('203.0.113.3', known);
    const statuses = await attack.stop();
    expect(statuses.get(401) ?? 0).toBeGreaterThan(0);
    // 0: the browser went on to the application.
    for (const { page } of [stranger, again]) expect([0, 200]).toContain(page.status);
    expect(again.ms, `at rest ${Math.round(atRest)} ms`).toBeLessThan(2 * atRest + NOISE_MS);
    expect(stranger.ms).toBeLessThan(STRANGER_MS);
  });
});

describe('passwords that wait', () => {
  const check = (network: string, account: string, isKnown = false): Promise<boolean> =>
    asPasswordCaller({ network, account, isKnown }, () => passwordMatches('a guess', null));

  test('are bounded for an account and a network; beyond it is 503 with a time to retry, and others are checked', async () => {
    const ofAccount = Array.from({ length: 40 }, () =>
      check('n1', 'a').then(
        () => 'checked',
        (error: { code: string; retryAfterMs: number }) => error,
      ),
    );
    expect(passwordShares.taken).toBe(PASSWORDS_WAITING.perMember);
    const ofNetwork = Array.from({ length: 300 }, (_, n) => check('n1', `b${n}`).catch(() => undefined));
    const taken = passwordShares.taken;
    expect(taken).toBeLessThanOrEqual(PASSWORDS_WAITING.perParty);
    const order: string[] = [];
    const other = check('n2', 'c').then(() => order.push('another network'));
    const knownBrowser = check('n1', 'a', true).then(() => order.push('a known browser'));
    await Promise.all([other, knownBrowser]);
    // Neither waited for the hundred before it.
    expect(passwordShares.taken).toBeGreaterThan(taken / 2);
    const results = await Promise.all(ofAccount);
    expect(results.filter((result) => result === 'checked')).toHaveLength(PASSWORDS_WAITING.perMember);
    expect(results.find((result) => result !== 'checked')).toMatchObject({ code: 'unavailable', retryAfterMs: 3000 });
    await Promise.all(ofNetwork);
    await waitUntil('nothing waits', () => passwordShares.taken === 0);
  });

  test('a sign-in that is refused for that reason gets a page with 503, and counts as no wrong password', async () => {
    const waiting = Array.from({ length: 40 }, () => check('203.0.113.9', email).catch(() => undefined));
    const { browser, page } = await openPage();
    const refused = await Promise.all(
      Array.from({ length: 12 }, () => browser.submit(page, '/login', { email, password: PASSWORD }, from('203.0.113.9'))),
    );
    const busy = refused.filter(({ status }) => status === 503);
    expect(busy.length).toBeGreaterThan(0);
    expect(busy[0]!.headers.get('retry-after')).toBe('3');
    expect(busy[0]!.html).toContain('Too many people are signing in');
    await Promise.all(waiting);
    // Ten wrong ones would be the limit.
    expect([0, 200]).toContain((await signIn('203.0.113.9')).page.status);
  });
});
