import { expect, test } from 'vitest';
import { newThread } from '../../server/outbound/notifications/threads/new-thread.ts';
import { MOST_TOLD, selectToldAfter } from '../../server/outbound/notifications/threads/routing/store.ts';
import type { ThreadRow } from '../../server/outbound/notifications/threads/types.ts';
import { inChunks } from '../../server/platform/storage/columns.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { followKinds } from '../harness/notifications.ts';
import { seedTeam } from '../harness/seed.ts';

const NOW = 1_700_000_000_000;
const KIND = 'fault.router_offline';

describeEachDatabase('what a group was told lately', (open) => {
  async function world() {
    const storage = await open();
    const { teamId } = await seedTeam(storage);
    const groupId = await followKinds(storage, teamId, ['*']);
    await storage.db.insertInto('sites').values({ id: 'madrid', team_id: teamId, name: 'Madrid', created_at: NOW }).execute();
    const told = (id: string, change: Partial<ThreadRow> = {}): ThreadRow => ({
      ...newThread({ id, teamId, groupId, key: id, kind: KIND, now: NOW }),
      site_id: 'madrid',
      told_open: 1,
      told_at: NOW,
      openings: JSON.stringify([NOW]),
      ...change,
    });
    const store = async (threads: readonly ThreadRow[]): Promise<void> => {
      for (const chunk of inChunks(threads)) await storage.db.insertInto('threads').values(chunk).execute();
    };
    const read = () => selectToldAfter(storage.db, teamId, { groupIds: [groupId], kinds: [KIND] }, NOW - 1);
    return { groupId, told, store, read };
  }

  test('is what is told by itself and still open, without what a site or a storm stands for', async () => {
    const { groupId, told, store, read } = await world();
    await store([
      told('alone'),
      told('in a site', { parent_id: 'alone' }),
      told('over', { state: 'ended' }),
      told('closed', { state: 'ended', closed_at: NOW }),
      told('told before', { told_at: NOW - 1 }),
      told('not told', { told_open: 0 }),
      told('nowhere', { site_id: null }),
      told('of another kind', { kind: 'fault.wan_down' }),
    ]);
    const place = { site_id: 'madrid', router_id: null, agent_id: null };
    expect(await read()).toEqual([
      { group_id: groupId, key: 'alone', ...place, kind: KIND, told_at: NOW, openings: JSON.stringify([NOW]) },
    ]);
  });

  test('is also what routers without a site report, behind their agent', async () => {
    const { told, store, read } = await world();
    const nowhere = { site_id: null };
    await store([
      told('of a router', { ...nowhere, router_id: 'r1', agent_id: 'a1' }),
      told('of an agent', { ...nowhere, agent_id: 'a1' }),
      told('of a router without an agent', { ...nowhere, router_id: 'r2' }),
    ]);
    expect(await read()).toMatchObject([{ site_id: null, router_id: 'r1', agent_id: 'a1' }]);
  });

  test('is the newest of it, however much it is', async () => {
    const { told, store, read } = await world();
    await store(Array.from({ length: MOST_TOLD + 10 }, (_, n) => told(`t${n}`, { told_at: NOW + n })));
    const found = await read();
    expect(found).toHaveLength(MOST_TOLD);
    expect(Math.min(...found.map(({ told_at: at }) => at ?? 0))).toBe(NOW + 10);
  });
});
