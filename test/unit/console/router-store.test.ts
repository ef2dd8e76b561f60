import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Router, StreamEvent } from '../../../client/index.ts';
import { RouterStore } from '../../../console/src/data/router-store.ts';

const router = (id: string): Router => ({ id, identity: id, state: 'answering', state_since: null, state_reason: null }) as Router;
const changed = (id: string, state = 'agent_away'): StreamEvent => ({
  id: '1',
  type: 'router.changed',
  data: { router_id: id, state, state_since: '2031-05-01T08:00:00.000Z', state_reason: 'silence' },
});

describe('the routers in the page', () => {
  let store: RouterStore;

  beforeEach(() => {
    vi.useFakeTimers();
    store = new RouterStore();
    store.load([router('a'), router('b')]);
  });
  afterEach(() => vi.useRealTimers());

  it('tell a row of its own change at once, and no other row', () => {
    const heard: string[] = [];
    store.subscribeTo('a', () => heard.push('a'));
    store.subscribeTo('b', () => heard.push('b'));
    store.apply([changed('a')]);
    expect(heard).toEqual(['a']);
    expect(store.get('a')!.state).toBe('agent_away');
  });

  it('tell counts and orders of the first change at once, and of the next ones together', () => {
    let times = 0;
    store.subscribe(() => (times += 1));
    for (let turn = 0; turn < 20; turn += 1) {
      store.apply([changed('a', turn % 2 === 0 ? 'agent_away' : 'answering')]);
      vi.advanceTimersByTime(50);
    }
    expect(times).toBeLessThanOrEqual(3);
    const { version } = store;
    vi.advanceTimersByTime(500);
    expect(times).toBe(3);
    vi.advanceTimersByTime(5000);
    expect(times).toBe(3);
    expect(store.version).toBeGreaterThanOrEqual(version);
  });

  it('tell nobody when nothing has changed', () => {
    let times = 0;
    store.subscribe(() => (times += 1));
    expect(store.apply([{ id: '2', type: 'job.completed', data: {} }])).toBe(false);
    expect(times).toBe(0);
  });

  it('have the new name of their agent, and only they', () => {
    store.load([
      { ...router('a'), agent_id: 'one', agent_name: 'old' },
      { ...router('b'), agent_id: 'other', agent_name: 'old' },
    ]);
    expect(store.apply([{ id: '4', type: 'agent.updated', data: { agent_id: 'one', name: 'riga-dc-1' } }])).toBe(false);
    expect([store.get('a')!.agent_name, store.get('b')!.agent_name]).toEqual(['riga-dc-1', 'old']);
    expect(store.apply([{ id: '5', type: 'agent.updated', data: { agent_id: 'one', site_id: null } }])).toBe(false);
    expect(store.get('a')!.agent_name).toBe('riga-dc-1');
  });

  it.each(['resync', 'router.removed', 'router.moved', 'router.replaced'] as const)('have to be read again after %s', (type) => {
    expect(store.apply([{ id: '3', type, data: {} }])).toBe(true);
  });

  it('are in the order of their names, numbers in them counted, and equal names equal', () => {
    store.load([router('gw-10'), router('GW-2'), router('gw-2'), router('ap')]);
    expect(
      store
        .values()
        .sort(store.byName)
        .map(({ identity }) => identity),
    ).toEqual(['ap', 'GW-2', 'gw-2', 'gw-10']);
  });

  it('follow what an inventory or a person changes, in their order, too', () => {
    store.load([router('b'), router('a')]);
    const inOrder = () =>
      store
        .values()
        .sort(store.byName)
        .map(({ id }) => id);
    expect(inOrder()).toEqual(['a', 'b']);
    const updated = (data: Record<string, unknown>) =>
      store.apply([{ id: '4', type: 'router.updated', data: { router_id: 'a', ...data } }]);
    expect(updated({ identity: 'zebra', software_version: '7.20', secret: 1 })).toBe(false);
    expect(updated({ site_id: 's1' })).toBe(false);
    expect(store.get('a')).toMatchObject({ identity: 'zebra', software_version: '7.20', site_id: 's1', state: 'answering' });
    expect(store.get('a')).not.toHaveProperty('secret');
    expect(inOrder()).toEqual(['b', 'a']);
  });

  it('keep what changed while they were read again, and nothing of it for the next reading', async () => {
    let answer: (routers: Router[]) => void = () => undefined;
    const reading = store.reload(() => new Promise((resolve) => (answer = resolve)));
    store.apply([changed('a')]);
    store.amend('a', { site_id: 's1' });
    answer([router('a'), router('b')]);
    await reading;
    expect(store.get('a')).toMatchObject({ state: 'agent_away', site_id: 's1' });
    expect(store.get('b')!.state).toBe('answering');
    await store.reload(async () => [router('a')]);
    expect(store.get('a')!.state).toBe('answering');
    expect(store.get('b')).toBeUndefined();
  });

  it('have to be read again when one changes that is not known', () => {
    expect(store.apply([changed('c')])).toBe(true);
  });
});
