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

test('checks sixty wrong credentials of one address, and blocks more until the minute has passed', () => {
  const { clock, dials } = setUp();
  fail(dials, HERE, 59);
  expect(dials.isBlocked(HERE, 'somebody')).toBe(false);
  fail(dials, HERE, 1);
  expect(dials.isBlocked(HERE, 'somebody')).toBe(true);
  expect(dials.isBlocked('203.0.113.8', 'somebody')).toBe(false);
  clock.advance(60_000);
  expect(dials.isBlocked(HERE, 'somebody')).toBe(false);
});

test('checks no more than sixty in any 60 seconds', () => {
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

test('agents that have authenticated from there stay exempt, whatever their neighbour does', () => {
  const { dials } = setUp();
  dials.authenticated(HERE, 'good');
  fail(dials, HERE, 1000);
  expect(dials.isBlocked(HERE, 'good')).toBe(false);
  expect(dials.isBlocked(HERE, '')).toBe(false);
  expect(dials.isBlocked(HERE, 'bad')).toBe(true);
  expect(dials.isBlocked('::ffff:203.0.113.7', 'bad')).toBe(true);
});

test('late channel dials of a valid agent for a revoked forward do not block new agents', () => {
  const { dials } = setUp();
  fail(dials, HERE, 59, '');
  dials.authenticated(HERE, 'good');
  fail(dials, HERE, 1000, '');
  expect(dials.isBlocked(HERE, 'new')).toBe(false);
  fail(dials, HERE, 1);
  expect(dials.isBlocked(HERE, 'new')).toBe(true);
});

test('counts IPv6 addresses by their /64 network', () => {
  const { dials } = setUp();
  for (let i = 0; i < 60; i += 1) dials.failed(`2001:db8:1:2::${i.toString(16)}`, 'stranger');
  expect(dials.isBlocked('2001:db8:1:2:ffff::1', 'x')).toBe(true);
  expect(dials.isBlocked('2001:db8:1:3::1', 'x')).toBe(false);
});
