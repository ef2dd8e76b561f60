import { beforeEach, describe, expect, test } from 'vitest';
import { PresenceChanges } from '../../../server/outbound/events/presence-changes.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

const ROUTER = { id: 'r', team_id: 'team', identity: 'r', agent_id: 'agent' };
const OFFLINE_AFTER_MS = 3000;

/** A control plane: what it knows of the router by itself, and whether it publishes its changes. */
class Node {
  readonly changes: PresenceChanges;
  watches = false;
  answersUntil: number | undefined;

  constructor(clock: ManualClock, said: boolean[]) {
    this.changes = new PresenceChanges({
      clock,
      log: silentLog,
      answersUntil: () => this.answersUntil,
      onChange: (_router, online) => said.push(online),
      watches: () => this.watches,
      sweepMs: 1000,
    });
  }

  heard(clock: ManualClock): void {
    this.answersUntil = clock.monotonic() + OFFLINE_AFTER_MS;
    this.changes.check(ROUTER.id);
  }
}

describe('online and offline of a router at several control planes', () => {
  let clock: ManualClock;
  let said: boolean[];
  let told: number;
  let a: Node;
  let b: Node;

  /** What was published has come back to all. */
  function tell(): void {
    for (; told < said.length; told += 1) for (const { changes } of [a, b]) changes.told(ROUTER.id, said[told]!);
  }

  beforeEach(() => {
    clock = new ManualClock();
    said = [];
    told = 0;
    a = new Node(clock, said);
    b = new Node(clock, said);
    for (const { changes } of [a, b]) changes.start([ROUTER], () => undefined);
  });

  test('are published by the one that watches, and the next one publishes only what differs', () => {
    a.watches = true;
    a.heard(clock);
    tell();
    expect(said).toEqual([true]);
    a.watches = false;
    b.watches = true;
    b.heard(clock);
    tell();
    clock.advance(OFFLINE_AFTER_MS - 1);
    expect(said).toEqual([true]);
    clock.advance(2000);
    tell();
    expect(said).toEqual([true, false]);
  });

  test('are published by whoever watches when nobody hears of the router any more', () => {
    a.watches = true;
    a.heard(clock);
    tell();
    // The first one was killed.
    a.watches = false;
    clock.advance(20_000);
    expect(said).toEqual([true]);
    b.watches = true;
    clock.advance(6000);
    tell();
    expect(said).toEqual([true, false]);
    clock.advance(20_000);
    expect(said).toEqual([true, false]);
  });

  test('that change again before the first has come back are not published twice', () => {
    a.watches = true;
    a.heard(clock);
    clock.advance(OFFLINE_AFTER_MS + 1000);
    expect(said).toEqual([true, false]);
    tell();
    clock.advance(10_000);
    expect(said).toEqual([true, false]);
  });

  test('of a router that one has not heard of yet are known when it comes there', () => {
    const late = new Node(clock, said);
    late.changes.start([], () => undefined);
    late.changes.told(ROUTER.id, true);
    late.watches = true;
    late.answersUntil = clock.monotonic() + OFFLINE_AFTER_MS;
    late.changes.onInventory(ROUTER);
    expect(said).toEqual([]);
  });
});
