import { beforeEach, expect, test } from 'vitest';
import { Heartbeat } from '../../../server/outbound/notifications/heartbeat/heartbeat.ts';
import type { Message } from '../../../server/platform/outgoing/poster.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

const MINUTE = 60_000;
const URL = 'https://watch.example.org/ping/abc';

let clock: ManualClock;
let looks: (number | undefined)[];
let called: string[];
let heartbeat: Heartbeat;

beforeEach(() => {
  clock = new ManualClock(Date.parse('2026-01-05T12:00:00Z'));
  looks = [clock.monotonic(), clock.monotonic()];
  called = [];
  const post = async ({ url, body }: Message) => {
    called.push(`${url} ${String(body)}`);
    return { outcome: 'delivered', status: 200 } as const;
  };
  heartbeat = new Heartbeat({ clock, log: silentLog, poster: { post }, url: URL, looks: () => looks });
});

async function minute(): Promise<void> {
  clock.advance(MINUTE);
  await new Promise((resolve) => setImmediate(resolve));
}

test('is sent once a minute while the pipeline looks', async () => {
  heartbeat.start();
  for (let n = 0; n < 5; n += 1) {
    await minute();
    looks = [clock.monotonic(), clock.monotonic()];
  }
  expect(called).toHaveLength(5);
  expect(called[0]).toBe(`${URL} `);
  await heartbeat.stop();
  await minute();
  expect(called).toHaveLength(5);
});

test.each([0, 1])('stops when part %i of it stands still, and goes on when it moves', async (part) => {
  const beat = (): Promise<void> => heartbeat.beat(new AbortController().signal);
  clock.advance(2 * MINUTE);
  looks[1 - part] = clock.monotonic();
  await beat();
  expect(called).toEqual([]);
  looks[part] = clock.monotonic();
  await beat();
  expect(called).toHaveLength(1);
  looks[part] = undefined;
  await beat();
  expect(called).toHaveLength(1);
});
