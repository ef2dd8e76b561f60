import { expect, test } from 'vitest';
import { NotificationChanges, TELL_EVERY_MS } from '../../../server/outbound/events/notification-changes.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

function start(): { clock: ManualClock; told: string[]; changes: NotificationChanges } {
  const clock = new ManualClock();
  const told: string[] = [];
  return { clock, told, changes: new NotificationChanges(clock, (teamId) => told.push(teamId)) };
}

test('a change is told at once, and the changes after it once in 2 s', () => {
  const { clock, told, changes } = start();
  for (let n = 0; n < 500; n += 1) changes.note('north');
  expect(told).toEqual(['north']);
  clock.advance(TELL_EVERY_MS - 1);
  expect(told).toEqual(['north']);
  clock.advance(1);
  expect(told).toEqual(['north', 'north']);
  clock.advance(10 * TELL_EVERY_MS);
  expect(told).toEqual(['north', 'north']);
  changes.note('north');
  expect(told).toHaveLength(3);
});

test('a team is not told of the changes of another, nor later because of them', () => {
  const { told, changes } = start();
  changes.note('north');
  changes.note('south');
  changes.note('north');
  expect(told).toEqual(['north', 'south']);
});

test('what is still to be told is told at the stop, and nothing after it', () => {
  const { clock, told, changes } = start();
  changes.note('north');
  changes.note('north');
  changes.note('south');
  changes.stop();
  expect(told).toEqual(['north', 'south', 'north']);
  clock.advance(10 * TELL_EVERY_MS);
  expect(told).toHaveLength(3);
});
