import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WaitingAgents } from '../../../server/fleet/faults/waiting-agents.ts';
import { WAITING_CHANGES, WaitingChanges } from '../../../server/fleet/faults/waiting-changes.ts';
import type { FaultChange } from '../../../server/fleet/faults/types.ts';
import { SOME_CAUSES } from '../../harness/causes.ts';

const finding = { message: 'm', causes: SOME_CAUSES };
const open = (at: number): FaultChange => ({ kind: 'open', type: 'router_offline', at, finding });
const resolve = (at: number): FaultChange => ({ kind: 'resolve', type: 'router_offline', at });

describe('changes of faults that wait for the database', () => {
  it('loses no fault when more than the shares wait', () => {
    const waiting = new WaitingChanges();
    const routers = WAITING_CHANGES.perParty + 5000;
    for (let n = 0; n < routers; n += 1) waiting.add({ teamId: 'team', routerId: `r${n}`, change: open(n) });
    const taken = waiting.take(routers);
    expect(new Set(taken.map(({ routerId }) => routerId)).size).toBe(routers);
    waiting.done(taken);
    expect(waiting.shares.taken).toBe(0);
    expect(waiting.size).toBe(0);
  });

  it('keeps three changes of a fault that flaps beyond the shares, and the last state', () => {
    const waiting = new WaitingChanges();
    for (let n = 0; n < WAITING_CHANGES.perParty; n += 1) waiting.add({ teamId: 'team', routerId: `r${n}`, change: open(n) });
    for (let n = 0; n < 101; n += 1) waiting.add({ teamId: 'team', routerId: 'flaps', change: n % 2 === 0 ? open(n) : resolve(n) });
    const taken = waiting.take(1_000_000).filter(({ routerId }) => routerId === 'flaps');
    expect(taken.length).toBeLessThanOrEqual(3);
    expect(taken.map(({ change }) => change.kind)).toEqual(['open', 'resolve', 'open'].slice(0, taken.length));
    expect(taken.at(-1)!.change).toEqual(open(100));
  });

  it('gives back every share, whatever is merged and taken in between', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.boolean()), { maxLength: 600 }), (steps) => {
        const waiting = new WaitingChanges();
        const isOpen = new Map<number, boolean>();
        const stored = new Map<string, boolean>();
        for (const [router, takes] of steps) {
          const next = !(isOpen.get(router) ?? false);
          isOpen.set(router, next);
          waiting.add({ teamId: 'team', routerId: `r${router}`, change: next ? open(1) : resolve(1) });
          if (!takes) continue;
          const taken = waiting.take(2);
          for (const { routerId, change } of taken) stored.set(routerId, change.kind === 'open');
          waiting.done(taken);
        }
        const rest = waiting.take(10_000);
        for (const { routerId, change } of rest) {
          expect(change.kind === 'open').toBe(!(stored.get(routerId) ?? false));
          stored.set(routerId, change.kind === 'open');
        }
        waiting.done(rest);
        expect(waiting.shares.taken).toBe(0);
        for (const [router, now] of isOpen) expect(stored.get(`r${router}`)).toBe(now);
      }),
    );
  });
});

describe('agents that wait for the database', () => {
  const away = (routerId: string, at = 1) => ({ teamId: 'team', agentId: 'a', routerId, kind: 'open', at, finding }) as const;
  const back = (routerId: string, at = 2) => ({ teamId: 'team', agentId: 'a', routerId, kind: 'resolve', at, finding: undefined }) as const;

  it('is one change for all routers of an agent', () => {
    const waiting = new WaitingAgents();
    for (let n = 0; n < 500; n += 1) waiting.add(away(`r${n}`));
    expect(waiting.size).toBe(1);
    const [change, ...others] = waiting.take();
    expect(others).toEqual([]);
    expect(change!.routers).toHaveLength(500);
    expect(waiting.take()).toEqual([]);
  });

  it('keeps the order of an agent that went and came', () => {
    const waiting = new WaitingAgents();
    for (const router of ['r1', 'r2']) waiting.add(away(router));
    waiting.add(back('r1'));
    expect(waiting.take().map(({ kind, routers }) => [kind, ...routers.map(({ id }) => id)])).toEqual([
      ['open', 'r1', 'r2'],
      ['resolve', 'r1'],
    ]);
  });

  it('leaves each router its own moment, also when flaps are left out', () => {
    const waiting = new WaitingAgents();
    waiting.add(away('r1', 10));
    waiting.add(away('r2', 20));
    for (let turn = 0; turn < 10; turn += 1) {
      waiting.add(back('flaps', 30 + turn));
      waiting.add(away('flaps', 30 + turn));
    }
    waiting.add(back('r2', 50));
    waiting.add(back('r1', 60));
    const moments = waiting.take().flatMap(({ kind, routers }) => routers.map(({ id, at }) => [kind, id, at]));
    expect(moments.filter(([, id]) => id !== 'flaps')).toEqual([
      ['open', 'r1', 10],
      ['open', 'r2', 20],
      ['resolve', 'r2', 50],
      ['resolve', 'r1', 60],
    ]);
  });

  it('leaves each router in its last state, and stays small, however often the agent comes and goes', () => {
    fc.assert(
      fc.property(fc.array(fc.subarray(['r1', 'r2', 'r3'], { minLength: 1 }), { maxLength: 60 }), (steps) => {
        const waiting = new WaitingAgents();
        const isAway = new Map<string, boolean>();
        steps.forEach((routers, at) => {
          for (const router of routers) {
            const next = !(isAway.get(router) ?? false);
            isAway.set(router, next);
            waiting.add(next ? away(router, at) : back(router, at));
          }
        });
        const changes = waiting.take();
        expect(changes.length).toBeLessThanOrEqual(24);
        const stored = new Map<string, boolean>();
        for (const { kind, routers } of changes)
          for (const { id } of routers) {
            expect(kind === 'open').toBe(!(stored.get(id) ?? false));
            stored.set(id, kind === 'open');
          }
        for (const [router, now] of isAway) expect(stored.get(router) ?? false).toBe(now);
      }),
    );
  });
});
