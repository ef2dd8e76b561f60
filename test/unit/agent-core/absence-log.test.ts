import { beforeEach, expect, it } from 'vitest';
import { AbsenceLog } from '../../../agent/core/absence-log.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { RecordedLog } from '../../harness/recorded-log.ts';

const MINUTE_MS = 60_000;
const texts = { away: 'away', stillAway: 'still away', back: 'back' };
let clock: ManualClock;
let log: RecordedLog;
let absence: AbsenceLog;

beforeEach(() => {
  clock = new ManualClock();
  log = new RecordedLog();
  absence = new AbsenceLog({ log, clock, texts, fields: { router: 'edge' } });
});

/** Fails every three seconds. */
function stayAway(ms: number, reason = 'refused'): void {
  for (let past = 0; past < ms; past += 3000) {
    absence.away(reason);
    clock.advance(3000);
  }
}

it('logs an outage once and repeats the warning at growing intervals, up to a day', () => {
  const begun = clock.monotonic();
  const saidAt: number[] = [];
  for (let minute = 0; minute < 4 * 24 * 60; minute += 1) {
    absence.away('refused');
    if (log.take().length > 0) saidAt.push((clock.monotonic() - begun) / MINUTE_MS);
    clock.advance(MINUTE_MS);
  }
  expect(saidAt).toEqual([0, 5, 15, 35, 75, 155, 315, 635, 1275, 2555, 3995, 5435]);
});

it('logs the duration of the outage with each warning and at its end', () => {
  stayAway(5 * MINUTE_MS + 3000);
  absence.back({ version: '7.18.2' });
  expect(log.take()).toEqual([
    { level: 'warn', message: 'away', router: 'edge', reason: 'refused' },
    { level: 'warn', message: 'still away', router: 'edge', reason: 'refused', away_seconds: 300 },
    { level: 'info', message: 'back', router: 'edge', version: '7.18.2', away_seconds: 303 },
  ]);
});

it('measures the duration by the monotonic clock, even if the wall clock is set', () => {
  absence.away('refused');
  clock.step(-3_600_000);
  clock.advance(10_000);
  absence.back();
  expect(log.take().at(-1)).toEqual({ level: 'info', message: 'back', router: 'edge', away_seconds: 10 });
});

it('logs that a peer is reachable that had no outage', () => {
  absence.back();
  expect(log.take()).toEqual([{ level: 'info', message: 'back', router: 'edge' }]);
});

it('logs the attempts in between at debug level', () => {
  stayAway(9000);
  expect(log.lines.map((line) => line.level)).toEqual(['warn', 'debug', 'debug']);
});

it('logs each cause once, and a limited number of causes', () => {
  for (let port = 0; port < 100; port += 1) {
    absence.away(`refused from port ${port % 50}`);
    absence.away('refused');
  }
  expect(log.take().map((line) => `${line.level} ${String(line['reason'])}`)).toEqual([
    'warn refused from port 0',
    'info refused',
    'info refused from port 1',
    'info refused from port 2',
  ]);
});

it('starts again with the next outage', () => {
  stayAway(20 * MINUTE_MS);
  absence.back();
  log.take();
  stayAway(6 * MINUTE_MS);
  expect(log.take().map((line) => line.message)).toEqual(['away', 'still away']);
});
