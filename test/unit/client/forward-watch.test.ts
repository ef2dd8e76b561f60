import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { closeForward, watchForward } from '../../../client/cli/forward-watch.ts';
import type { WatchClock } from '../../../client/cli/forward-watch.ts';
import { ProblemError, Signalbox } from '../../../client/index.ts';
import type { TransientForward } from '../../../client/index.ts';

/** What `signalbox forward` does while its forward is open, and at its end: on a machine whose time of day is wrong. */
const MINUTE_MS = 60_000;
const CREATED = Date.parse('2031-05-01T08:00:00.000Z');
const at = (minutes: number): string => new Date(CREATED + minutes * MINUTE_MS).toISOString();
const forward = {
  id: 'f',
  router_id: 'r',
  created_at: at(0),
  expires_at: at(60),
  closed_at: null,
  revoked_early: false,
} as TransientForward;

let clock: WatchClock & { ms: number };
let stderr: string;
/** When the server was asked, minutes after the creation. */
let asked: number[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: CREATED });
  stderr = '';
  asked = [];
  clock = {
    ms: 12_345,
    monotonic: () => clock.ms,
    pause: async (ms, signal) => {
      signal?.throwIfAborted();
      clock.ms += ms;
      vi.setSystemTime(Date.now() + ms);
    },
  };
});
afterEach(() => vi.useRealTimers());

const minutesGone = (): number => (clock.ms - 12_345) / MINUTE_MS;

/** @param answer what the server says at that minute; undefined: it is away */
function watched(answer: (minute: number) => Response | undefined) {
  const signalbox = new Signalbox({
    server: 'http://signalbox.test',
    key: 'key',
    retries: 0,
    fetch: async () => {
      asked.push(minutesGone());
      const response = answer(minutesGone());
      if (response === undefined) throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
      return response;
    },
  });
  const say = (text: string): void => void (stderr += text);
  return { signalbox, forward, local: { counts: { open: 0, total: 0 } }, clock, stderr: say, signal: new AbortController().signal };
}

const shown = (minute: number): Response => Response.json({ ...forward, closed_at: minute >= 60 ? at(60) : null });
const refused = (status: number, code: string): Response => Response.json({ status, code, message: `no: ${code}` }, { status });

test.each([
  ['right', 0],
  ['two hours ahead', 120],
  ['two hours behind', -120],
])(
  'on a machine whose clock is %s, it counts down from 60 minutes, asks six times a minute, and ends with the forward',
  async (_what, aheadMinutes) => {
    vi.setSystemTime(CREATED + aheadMinutes * MINUTE_MS);
    expect(await watchForward(watched(shown))).toMatchObject({ exitCode: 0 });
    expect(stderr).toMatch(/^60 min left/);
    expect(stderr).toMatch(/\n1 min left, .*\n(0 min left, .*\n)?the forward has expired\n$/);
    expect(asked.length).toBeLessThanOrEqual(6 * 60 + 1);
    expect(asked.at(-1)).toBeCloseTo(60, 0);
  },
);

test('a short absence of the server ends nothing, whatever the clock says', async () => {
  vi.setSystemTime(CREATED + 120 * MINUTE_MS);
  expect(await watchForward(watched((minute) => (minute > 5 && minute < 5.5 ? undefined : shown(minute))))).toMatchObject({ exitCode: 0 });
  expect(asked.at(-1)).toBeCloseTo(60, 0);
});

test('a server that does not come back is given up a minute after the end, and not asked more often then', async () => {
  expect(await watchForward(watched((minute) => (minute > 30 ? undefined : shown(minute))))).toMatchObject({ exitCode: 3 });
  expect(stderr).toMatch(/the forward has expired, and the server does not answer\n$/);
  expect(asked.at(-1)).toBeGreaterThan(61);
  expect(asked.at(-1)).toBeLessThan(61.5);
  expect(asked.filter((minute) => minute > 60).length).toBeLessThanOrEqual(8);
});

test('a server that is late to close a forward is asked at the same pace until it has', async () => {
  const late = (minute: number): Response => Response.json({ ...forward, closed_at: minute >= 65 ? at(65) : null });
  expect(await watchForward(watched(late))).toMatchObject({ exitCode: 0 });
  expect(asked.filter((minute) => minute > 60).length).toBeLessThanOrEqual(31);
});

test('a server that refuses to tell more ends it', async () => {
  await expect(watchForward(watched((minute) => (minute < 1 ? shown(minute) : refused(401, 'unauthenticated'))))).rejects.toBeInstanceOf(
    ProblemError,
  );
});

test('at the end the forward is closed also while the server is being restarted', async () => {
  await closeForward(watched((minute) => (minute * 60 < 6 ? undefined : new Response(null, { status: 204 }))));
  expect(stderr).toBe('the server does not answer; retrying for 30 s to close the forward\nthe forward is closed\n');
  expect(minutesGone() * 60).toBeLessThan(10);
});

test('but not forever, and it names what stays open', async () => {
  await closeForward(watched(() => refused(503, 'unavailable')));
  expect(stderr).toMatch(/the forward f could not be closed and stays open until 2031-05-01T09:00:00.000Z: no: unavailable\n$/);
  expect(minutesGone() * 60).toBeGreaterThan(25);
  expect(minutesGone() * 60).toBeLessThanOrEqual(30);
});

test('a refusal that time does not change is not asked again', async () => {
  await closeForward(watched(() => refused(403, 'forbidden')));
  expect(asked).toHaveLength(1);
  expect(stderr).toMatch(/^the forward f could not be closed/);
});
