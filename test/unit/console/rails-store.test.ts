import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ApiClient, Router } from '../../../client/browser.ts';
import { RailsStore } from '../../../console/src/data/rails-store.ts';
import { RouterStore } from '../../../console/src/data/router-store.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const HOUR_MS = 3_600_000;
const SPAN = { from: NOW - 24 * HOUR_MS, to: NOW };
const STATE = { state: 'answering', state_since: '2026-11-01T00:00:00Z', state_reason: null };

describe('the rails of many routers', () => {
  let asked: string[][];
  let routers: RouterStore;
  let rails: RailsStore;
  let isBroken: boolean;
  let isInSight: boolean;

  beforeEach(() => {
    vi.useFakeTimers({ now: NOW });
    asked = [];
    isBroken = false;
    isInSight = true;
    routers = new RouterStore();
    const all = Array.from({ length: 450 }, (_none, index) => ({ id: `r${index}`, created_at: '2026-01-01T00:00:00Z', ...STATE }));
    routers.load(all as unknown as Router[]);
    const call = async (_id: string, { query }: { query: { router_ids: string[] } }) => {
      asked.push(query.router_ids);
      if (isBroken) throw new Error('the control plane does not answer');
      const bucket = { from: new Date(SPAN.from).toISOString(), to: new Date(NOW).toISOString(), answering: 86_400 };
      const buckets = [{ ...bucket, not_answering: 0, agent_away: 0, unknown: 0 }];
      return { data: query.router_ids.map((id) => ({ router_id: id, buckets })) };
    };
    rails = new RailsStore({ call } as unknown as Pick<ApiClient, 'call'>, routers, () => isInSight);
  });
  afterEach(() => vi.useRealTimers());

  it('are read by 200, one request right after the other', async () => {
    for (const { id } of routers.values()) rails.subscribe(id, () => undefined);
    await vi.advanceTimersByTimeAsync(150);
    expect(asked.map(({ length }) => length)).toEqual([200, 200, 50]);
    expect(new Set(asked.flat()).size).toBe(450);
  });

  it('are not read while nobody can see the page, and once when somebody can', async () => {
    rails.subscribe('r1', () => undefined);
    await vi.advanceTimersByTimeAsync(150);
    isInSight = false;
    for (let changes = 0; changes < 5; changes += 1) {
      const data = { router_id: 'r1', ...STATE, state: 'agent_away', state_since: new Date(Date.now()).toISOString() };
      routers.apply([{ id: String(changes), type: 'router.changed', data }]);
      await vi.advanceTimersByTimeAsync(400_000);
    }
    expect(asked).toEqual([['r1']]);
    isInSight = true;
    rails.show();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toEqual([['r1'], ['r1']]);
  });

  it('are not read again while nothing changes, and soon after the state of one has changed', async () => {
    rails.subscribe('r1', () => undefined);
    await vi.advanceTimersByTimeAsync(150);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toEqual([['r1']]);
    const data = { router_id: 'r1', ...STATE, state: 'agent_away', state_since: new Date(Date.now()).toISOString() };
    routers.apply([{ id: '1', type: 'router.changed', data }]);
    await vi.advanceTimersByTimeAsync(3000);
    expect(asked).toEqual([['r1'], ['r1']]);
  });

  it('are worked out once for as long as neither the hours nor the router have changed', async () => {
    rails.subscribe('r1', () => undefined);
    await vi.advanceTimersByTimeAsync(150);
    const first = rails.railsOf(routers.get('r1')!, SPAN);
    expect(first?.router).toMatchObject([{ kind: 'heard' }]);
    expect(rails.railsOf(routers.get('r1')!, SPAN)).toBe(first);
    routers.apply([
      { id: '1', type: 'router.changed', data: { router_id: 'r1', ...STATE, state: 'not_answering', state_since: '2026-11-23T11:00:00Z' } },
    ]);
    expect(rails.railsOf(routers.get('r1')!, SPAN)?.router).toMatchObject([{ kind: 'heard' }, { kind: 'not' }]);
  });

  it('are asked for again half a minute after a failure, and not with every change meanwhile', async () => {
    isBroken = true;
    rails.subscribe('r1', () => undefined);
    await vi.advanceTimersByTimeAsync(150);
    for (let second = 0; second < 20; second += 1) {
      const data = { router_id: 'r1', ...STATE, state: 'agent_away', state_since: new Date(Date.now()).toISOString() };
      routers.apply([{ id: String(second), type: 'router.changed', data }]);
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(asked).toEqual([['r1']]);
    isBroken = false;
    await vi.advanceTimersByTimeAsync(15_000);
    expect(rails.get('r1')).toHaveLength(1);
  });

  it('of a row that comes into sight while the control plane does not answer are read when it does', async () => {
    isBroken = true;
    const leave = rails.subscribe('r1', () => undefined);
    await vi.advanceTimersByTimeAsync(150);
    leave();
    rails.subscribe('r2', () => undefined);
    isBroken = false;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(rails.get('r2')).toHaveLength(1);
  });

  it('that nobody looks at any more are not read', async () => {
    rails.subscribe('r1', () => undefined)();
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toEqual([]);
  });
});
