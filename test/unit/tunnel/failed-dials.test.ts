import { expect, test } from 'vitest';
import { FailedDials } from '../../../server/platform/tunnel/failed-dials.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

const HERE = '203.0.113.7';

function setUp() {
  const clock = new ManualClock();
  return { clock, dials: new FailedDials(() => clock.now()) };
}

function fail(dials: FailedDials, address: string, times: number, visitor = 'stranger'): void {
  for (let i = 0; i < times; i += 1) dials.failed(address, visitor);
}

test('sixty wrong credentials of one address are checked, more wait until the minute is over', () => {
  const { clock, dials } = setUp();
  fail(dials, HERE, 59);
  expect(dials.isBlocked(HERE, 'somebody')).toBe(false);
  fail(dials, HERE, 1);
  expect(dials.isBlocked(HERE, 'somebody')).toBe(true);
  expect(dials.isBlocked('203.0.113.8', 'somebody')).toBe(false);
  clock.advance(60_000);
  expect(dials.isBlocked(HERE, 'somebody')).toBe(false);
});

test('no more than sixty in any minute, also where one minute meets the next', () => {
  const { clock, dials } = setUp();
  fail(dials, HERE, 1);
  clock.advance(59_000);
  fail(dials, HERE, 59);
  clock.advance(2000);
  fail(dials, HERE, 1);
  expect(dials.isBlocked(HERE, 'somebody')).toBe(true);
  clock.advance(57_000);
  expect(dials.isBlocked(HERE, 'somebody')).toBe(true);
  clock.advance(1000);
  expect(dials.isBlocked(HERE, 'somebody')).toBe(false);
});

test('agents that were let in from there are let in again, whatever their neighbour does', () => {
  const { dials } = setUp();
  dials.letIn(HERE, 'good');
  fail(dials, HERE, 1000);
  expect(dials.isBlocked(HERE, 'good')).toBe(false);
  expect(dials.isBlocked(HERE, '')).toBe(false);
  expect(dials.isBlocked(HERE, 'bad')).toBe(true);
  expect(dials.isBlocked('::ffff:203.0.113.7', 'bad')).toBe(true);
});

test('the channels that a good agent dials too late for a forward that was revoked keep no new agent out', () => {
  const { dials } = setUp();
  fail(dials, HERE, 59, '');
  dials.letIn(HERE, 'good');
  fail(dials, HERE, 1000, '');
  expect(dials.isBlocked(HERE, 'new')).toBe(false);
  fail(dials, HERE, 1);
  expect(dials.isBlocked(HERE, 'new')).toBe(true);
});

test('of IPv6 the network counts: its owner has as many addresses as he likes', () => {
  const { dials } = setUp();
  for (let i = 0; i < 60; i += 1) dials.failed(`2001:db8:1:2::${i.toString(16)}`, 'stranger');
  expect(dials.isBlocked('2001:db8:1:2:ffff::1', 'x')).toBe(true);
  expect(dials.isBlocked('2001:db8:1:3::1', 'x')).toBe(false);
});
