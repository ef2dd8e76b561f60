import { beforeAll, expect, test } from 'vitest';
import {
  findMessages,
  selectAttempts,
  selectOfThread,
  selectSaid,
  selectTargetNames,
} from '../../server/outbound/notifications/log/messages/store.ts';
import { findThreads, selectGroupNames } from '../../server/outbound/notifications/log/threads/store.ts';
import type { MessageFilter, ThreadFilter } from '../../server/outbound/notifications/log/types.ts';
import { readFacts } from '../../server/outbound/notifications/messages/view/facts.ts';
import { newThread } from '../../server/outbound/notifications/threads/new-thread.ts';
import { selectOpenThreads, selectToldAfter } from '../../server/outbound/notifications/threads/routing/store.ts';
import { selectStandIns } from '../../server/outbound/notifications/threads/telling/store.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { followKinds } from '../harness/notifications.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';
import type { Plan } from '../harness/plans.ts';
import { seedRouter } from '../harness/seed.ts';

const THREADS = 300;
const LIMIT = 100;

/** No row of another team is read, and no more than a page is sorted. */
function expectBounded(plans: readonly Plan[], by = /team_id/): void {
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) {
    for (const { table, index, condition } of plan.reads) {
      if (table === 'counted' || table === 'ranked' || table.startsWith('(subquery')) continue;
      expect(index, plan.text).not.toBeNull();
      expect(condition, plan.text).toMatch(by);
    }
  }
}

/** Statements behind the delivery log. */
describeEachDatabase('the plans of the delivery log', (open) => {
  let storage: Storage;
  let teamId: string;
  let routerId: string;
  let groupId: string;
  let threadIds: string[];

  beforeAll(async () => {
    storage = await open();
    await seedLog();
    const mine = await seedLog();
    ({ teamId, routerId, groupId, threadIds } = mine);
    await learnSizes(storage);
  });

  async function seedLog() {
    const router = await seedRouter(storage);
    const group = await followKinds(storage, router.teamId, ['*']);
    const threads = Array.from({ length: THREADS }, (_, n) => {
      const base = { teamId: router.teamId, groupId: group, key: `router:${n}:wan_down`, kind: 'fault.wan_down', now: 1000 + n };
      const thread = newThread({ id: newId(1000 + n), ...base });
      return { ...thread, router_id: n % 9 === 0 ? router.routerId : null, site_id: newId(n), state: n % 9 === 0 ? 'open' : 'ended' };
    });
    await storage.db.insertInto('threads').values(threads).execute();
    const messages = threads.map((thread, n) => ({
      id: newId(1000 + n),
      team_id: router.teamId,
      thread_id: thread.id,
      group_id: group,
      router_id: thread.router_id,
      recipient_type: 'person',
      recipient_id: newId(n),
      channel: 'email',
      revision: 1,
      kind: 'open',
      state: n % 9 === 0 ? 'withheld' : 'sent',
      reason: n % 9 === 0 ? 'muted' : null,
      bucket: '',
      attempts: 0,
      created_at: 1000 + n,
    }));
    await storage.db.insertInto('messages').values(messages).execute();
    return { teamId: router.teamId, routerId: router.routerId, groupId: group, threadIds: threads.map(({ id }) => id) };
  }

  const page = (after?: { value: number; id: string }) => ({ limit: LIMIT, sort: 'created_at', descending: true, after });
  const ANY = { only: [], not: [] };
  const NO_RECORD = { routerId: undefined, from: undefined, to: undefined };

  test('of threads', async () => {
    const every: ThreadFilter = { ...NO_RECORD, state: undefined, groupId: undefined, siteId: undefined, parentId: undefined, kinds: ANY };
    const filters: Partial<ThreadFilter>[] = [
      {},
      { state: 'open' },
      { groupId },
      { routerId },
      { siteId: newId(7) },
      { kinds: { only: ['site'], not: [] } },
      { parentId: threadIds[0]! },
      { groupId, state: 'closed', from: 1100 },
    ];
    for (const filter of filters)
      for (const after of [undefined, { value: 1100, id: newId(1100) }]) {
        const plans = await plansOf(storage, (db) => findThreads(db, teamId, { ...every, ...filter }, page(after), true));
        expectBounded(plans, filter.parentId === undefined ? /team_id/ : /team_id|parent_id/);
        // The children of one thread may be sorted.
        if (filter.parentId === undefined) for (const plan of plans) expect(plan.sorted, plan.text).toBe(0);
      }
  });

  test('of messages', async () => {
    const every: MessageFilter = { ...NO_RECORD, recipientId: undefined, groupId: undefined, states: ANY, reasons: ANY, channels: ANY };
    const filters: Partial<MessageFilter>[] = [
      {},
      { recipientId: newId(7) },
      { routerId },
      { routerId, from: 1100, states: { only: ['withheld'], not: [] } },
      { groupId },
      { states: { only: ['sent', 'failed'], not: [] } },
      { states: { only: [], not: ['sent'] } },
      { reasons: { only: ['muted', 'off'], not: [] } },
      { channels: { only: ['email'], not: [] } },
      { recipientId: newId(7), states: { only: ['withheld'], not: [] }, to: 1200 },
    ];
    for (const filter of filters)
      for (const after of [undefined, { value: 1100, id: newId(1100) }]) {
        const plans = await plansOf(storage, (db) => findMessages(db, teamId, { ...every, ...filter }, page(after), true));
        expectBounded(plans);
        for (const plan of plans) expect(plan.sorted, plan.text).toBe(0);
      }
    const [ofRouter] = await plansOf(storage, (db) => findMessages(db, teamId, { ...every, routerId }, page(), false));
    expect(ofRouter!.reads, ofRouter!.text).toMatchObject([
      { index: 'messages_by_router', condition: expect.stringContaining('router_id') },
    ]);
  });

  test('of one thread, and of what is said about a page', async () => {
    const [threadId] = threadIds;
    const ofThread = await plansOf(storage, (db) => selectOfThread(db, teamId, threadId!, { limit: LIMIT, before: undefined }));
    expectBounded(ofThread, /thread_id/);
    expectBounded(await plansOf(storage, (db) => selectAttempts(db, teamId, ['a', 'b'])), /message_id/);
    expectBounded(await plansOf(storage, (db) => selectTargetNames(db, teamId, ['a', 'b'])), /id/);
    const messages = await storage.db.selectFrom('messages').selectAll().where('thread_id', 'in', threadIds.slice(0, 50)).execute();
    const said = await plansOf(storage, (db) => selectSaid(db, teamId, messages));
    // Their readers are found by id.
    const ofMessages = said.map((plan) => ({ ...plan, reads: plan.reads.filter(({ table }) => table !== 'users') }));
    expectBounded(ofMessages, /thread_id/);
    expectBounded(await plansOf(storage, (db) => selectGroupNames(db, teamId, ['a', 'b'])), /id/);
    const rows = await storage.db.selectFrom('threads').selectAll().where('id', 'in', threadIds.slice(0, 50)).execute();
    const ofSite = { ...rows[0]!, kind: 'site' };
    const ofAgent = { ...rows[1]!, key: 'agent:x', agent_id: newId(1) };
    const ofJobs = { ...rows[2]!, key: 'router:x:jobs' };
    const ofCampaign = { ...rows[3]!, key: `campaign:${newId(2)}` };
    const plans = await plansOf(storage, (db) => readFacts(db, teamId, [ofSite, ofAgent, ofJobs, ofCampaign, ...rows.slice(4)]));
    expectBounded(plans, /id|told_in/);
    // One look at each table, however many threads: children of two levels and what is beside a place, items, team, routers, agents, sites, counts.
    expect(plans.length).toBeLessThanOrEqual(12);
  });

  test('of the pipeline: closed threads of the last weeks are not read', async () => {
    const keys = ['router:1:wan_down', 'router:2:wan_down'];
    const [byKey] = await plansOf(storage, (db) => selectOpenThreads(db, teamId, keys));
    expect(byKey!.reads, byKey!.text).toMatchObject([{ index: 'threads_by_key' }]);
    const [byKind] = await plansOf(storage, (db) => selectStandIns(db, teamId, [groupId]));
    expect(byKind!.reads, byKind!.text).toMatchObject([{ index: 'threads_by_kind' }]);
    const [told] = await plansOf(storage, (db) =>
      selectToldAfter(db, teamId, { groupIds: [groupId], kinds: ['fault.router_offline'] }, 1000),
    );
    expect(told!.reads, told!.text).toMatchObject([{ index: 'threads_by_kind' }]);
  });
});
