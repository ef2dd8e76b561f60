import { expect, test } from 'vitest';
import { Counters } from '../../server/platform/core/counters.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { KEPT_PER_TEAM, RetentionService } from '../../server/operations/retention/service.ts';
import { KEPT_TABLES } from '../../server/operations/retention/store.ts';
import type { KeptTable } from '../../server/operations/retention/store.ts';
import { NotificationRetention } from '../../server/outbound/notifications/retention/service.ts';
import { newThread } from '../../server/outbound/notifications/threads/new-thread.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';

/** Long after the test's present. */
const FAR = 4_000_000_000_000;

/** A record that may go, and one that is as old and may not. */
interface Row {
  over: object;
  inUse?: object;
  /** Others that are as old and may not go. */
  alsoKept?: readonly object[];
}

const ROWS: Record<KeptTable, (team: SeededRouter) => Row> = {
  audit_log: () => ({ over: { actor_kind: 'api_key', actor_id: 'k', source: '192.0.2.1', action: 'POST /x', target: '/x', result: 400 } }),
  faults: ({ routerId }) => {
    const fault = { router_id: routerId, type: 'cpu', severity: 'warning', message: 'm', cause: 'c', occurrences: 1, updated_at: 1 };
    return { over: { ...fault, resolved_at: 1 }, inUse: { ...fault, resolved_at: null } };
  },
  forwards: ({ routerId }) => {
    const forward = {
      router_id: routerId,
      port: 20_000,
      allow_only_cidr: '',
      dst_address: '10.0.0.1',
      dst_port: 80,
      entry_point: 'e',
      channel_token_hash: 'h',
      created_by: 'k',
      expires_at: 1,
      refused_attempts: 0,
    };
    return { over: { ...forward, closed_at: 1 }, inUse: { ...forward, closed_at: null } };
  },
  terminals: ({ routerId, agentId }) => {
    const terminal = { router_id: routerId, agent_id: agentId, level: 'read', reason: 'r', opened_by: 'k', opened_by_kind: 'api_key' };
    const rest = { source: '192.0.2.1', cols: 80, rows: 24 };
    const ended = { ...terminal, ...rest, ended_at: 1 };
    return {
      over: { ...ended, recording_chunks: 1, recording_deleted_at: 2 },
      inUse: { ...terminal, ...rest, ended_at: null },
      // No recording is removed to make room.
      alsoKept: [{ ...ended, recording_chunks: 1, recording_chars: 100 }],
    };
  },
  campaigns: () => {
    const campaign = {
      request_id: 'r',
      idempotency_key: 'i',
      created_by: 'k',
      description: 'd',
      script: 's',
      express_execute: 0,
      needs_acknowledgement: 0,
      make_backup: 0,
      deliver_within_minutes: 1,
      canary_count: 0,
      most_at_once: 1,
      target_count: 0,
      state: 'completed',
      next_start_at: 0,
    };
    return { over: { ...campaign, finished_at: 1 }, inUse: { ...campaign, finished_at: null } };
  },
  revocations: () => {
    const revocation = { kind: 'api_key', subject_id: 's', revoke_keys: 0, passes: 1 };
    return { over: { ...revocation, due_at: null }, inUse: { ...revocation, due_at: 1 } };
  },
  invitations: () => {
    const invitation = { role: 'viewer', inviter_kind: 'operator', inviter_id: null, expires_at: 1 };
    return { over: { ...invitation, state: 'withdrawn' }, inUse: { ...invitation, state: 'open' } };
  },
  enrol_tokens: () => ({ over: { expires_at: FAR, used_at: 1 }, inUse: { expires_at: FAR, used_at: null } }),
  api_keys: () => {
    const key = { name: 'k', role: 'viewer' };
    return { over: { ...key, expires_at: 1 }, inUse: { ...key, expires_at: FAR } };
  },
  agent_sessions: ({ agentId }) => {
    const session = { agent_id: agentId, address: '192.0.2.1', reset: 0, pings_answered: 0, pings_lost: 0 };
    return { over: { ...session, closed_at: 200 }, inUse: { ...session, closed_at: null } };
  },
  notices: () => {
    const fact = { kind: 'job.failed', phase: 'info', severity: 'warning', key: 'k', record_id: 'r', version: 1, at: 1, data: '{}' };
    return { over: { ...fact, routed_at: 1 }, inUse: { ...fact, routed_at: null } };
  },
  threads: (team) => ({ over: { ...threadOf(team), closed_at: 1 }, inUse: { ...threadOf(team), closed_at: null } }),
  messages: (team) => ({
    over: messageOf(team, 'closed'),
    inUse: { ...messageOf(team, 'open'), state: 'pending', due_at: 1, settled_at: null },
    // What somebody knows of a thread that goes on.
    alsoKept: [messageOf(team, 'open')],
  }),
  router_state_changes: ({ routerId }) => {
    const state = { router_id: routerId, state: 'answering', reason: null };
    return { over: { ...state, until: 200 }, inUse: { ...state, until: null } };
  },
  agents: () => {
    const agent = { name: 'a', epoch: 0, confirmed_epoch: 0 };
    return { over: { ...agent, revoked_at: 1 }, inUse: { ...agent, revoked_at: null } };
  },
};

/** Of a group that has the id of its team. */
function threadOf({ teamId }: SeededRouter): object {
  const { id: _id, ...thread } = newThread({ id: '', teamId, groupId: teamId, key: 'k', kind: 'job.failed', now: 1 });
  return thread;
}

function messageOf({ teamId }: SeededRouter, thread: 'open' | 'closed'): object {
  const recipient = { recipient_type: 'person', recipient_id: 'p', channel: 'email' };
  const sent = { revision: 1, kind: 'open', state: 'sent', bucket: '', attempts: 1, settled_at: 1 };
  return { thread_id: `${thread} ${teamId}`, group_id: teamId, ...recipient, ...sent };
}

async function seedGroup({ db }: Storage, { teamId: id }: SeededRouter): Promise<void> {
  await db
    .insertInto('notification_groups')
    .values({ id, team_id: id, name: 'g', schedule_id: null, mute: 'never', created_at: 1, updated_at: 1 })
    .execute();
}

/** One thread that may go on, and one that is closed. */
async function seedThreads({ db }: Storage, { teamId: id }: SeededRouter): Promise<void> {
  for (const [name, closedAt] of [
    ['open', null],
    ['closed', 1],
  ] as const)
    await db
      .insertInto('threads')
      .values({
        ...newThread({ id: `${name} ${id}`, teamId: id, groupId: id, key: name, kind: 'job.failed', now: FAR }),
        closed_at: closedAt,
      })
      .execute();
}

/** What records refer to. */
const PREPARE: Partial<Record<KeptTable, (storage: Storage, team: SeededRouter) => Promise<void>>> = {
  threads: seedGroup,
  messages: async (storage, team) => {
    await seedGroup(storage, team);
    await seedThreads(storage, team);
  },
};

/** Columns that have to differ from record to record. */
const UNLIKE: Partial<Record<KeptTable, readonly string[]>> = {
  invitations: ['email', 'code_hash'],
  enrol_tokens: ['secret_hash'],
  api_keys: ['secret_hash'],
  agents: ['secret_hash'],
};

/** No record is old. */
const NO_AGE = { audit_log: FAR, faults: FAR, forwards: FAR, terminals: FAR, campaigns: FAR };
const KEEP = 3;
const kept = Object.fromEntries(Object.keys(KEPT_PER_TEAM).map((table) => [table, KEEP])) as Record<KeptTable, number>;

describeEachDatabase('records that a team makes without end', (open) => {
  test.each(Object.keys(ROWS) as KeptTable[])(
    '%s: keeps the newest records and all in use, and does not touch other teams',
    async (table) => {
      const storage = await open();
      const [hostile, neighbour] = [await seedRouter(storage), await seedRouter(storage)];
      const counters = new Counters();
      const clock = new ManualClock();
      for (const team of [hostile, neighbour]) await PREPARE[table]?.(storage, team);
      const { at } = KEPT_TABLES[table];
      const insert = async (team: SeededRouter, row: object, moment: number): Promise<string> => {
        const id = newId(moment);
        const unlike = Object.fromEntries((UNLIKE[table] ?? []).map((column) => [column, `${column} ${id}`]));
        await storage.db
          .insertInto(table)
          .values({ ...row, ...unlike, id, team_id: team.teamId, [at]: moment })
          .execute();
        return id;
      };
      const { over, inUse, alsoKept = [] } = ROWS[table](hostile);
      const stay: string[] = [];
      for (const row of [...(inUse ? [inUse] : []), ...alsoKept]) stay.push(await insert(hostile, row, 1));
      const made: string[] = [];
      for (let i = 0; i < 8; i += 1) made.push(await insert(hostile, over, 100 + i));
      const others: string[] = [];
      for (let i = 0; i < KEEP; i += 1) others.push(await insert(neighbour, ROWS[table](neighbour).over, 100));
      await new RetentionService({ storage, clock, counters, kept, keepMs: NO_AGE }).sweep();
      const left = new Set((await storage.db.selectFrom(table).select('id').execute()).map(({ id }) => id));
      expect(made.filter((id) => left.has(id))).toEqual(made.slice(-KEEP));
      expect(others.filter((id) => left.has(id))).toEqual(others);
      expect(stay.filter((id) => left.has(id))).toEqual(stay);
      expect(counters.get('kept_records_per_team')).toBe(1);
      await new RetentionService({ storage, clock, counters, kept, keepMs: NO_AGE }).sweep();
      expect(counters.get('kept_records_per_team')).toBe(1);
    },
  );

  test('messages of a thread that goes on: the last of each kind and result stay, whatever a team makes', async () => {
    const storage = await open();
    const team = await seedRouter(storage);
    await PREPARE.messages?.(storage, team);
    const told = ['open', 'reminder', 'reminder', 'reminder', 'resolve', 'open', 'reminder'];
    for (const [n, kind] of told.entries())
      await storage.db
        .insertInto('messages')
        .values({ ...messageOf(team, 'open'), kind, revision: n + 1, id: newId(n), team_id: team.teamId, created_at: n + 1 } as never)
        .execute();
    await new RetentionService({ storage, clock: new ManualClock(), kept: { ...kept, messages: 1 }, keepMs: NO_AGE }).sweep();
    const left = await storage.db.selectFrom('messages').select(['kind', 'revision']).orderBy('revision').execute();
    expect(left).toEqual([
      { kind: 'reminder', revision: 4 },
      { kind: 'resolve', revision: 5 },
      { kind: 'open', revision: 6 },
      { kind: 'reminder', revision: 7 },
    ]);
  });

  test.each<[string, (storage: Storage) => Promise<void>]>([
    [
      'too many',
      (storage) =>
        new RetentionService({ storage, clock: new ManualClock(), kept: { ...kept, threads: 1, messages: 1 }, keepMs: NO_AGE }).sweep(),
    ],
    ['too old', (storage) => new NotificationRetention({ storage, clock: new ManualClock(), keepMs: 1 }).sweep()],
  ])('closed threads that are %s stay while one of their messages waits', async (_why, sweep) => {
    const storage = await open();
    const team = await seedRouter(storage);
    await seedGroup(storage, team);
    const waits = {
      sent: {},
      due: { due_at: 1, state: 'pending', settled_at: null },
      'for a digest': { digest_at: 1, state: 'pending', settled_at: null },
      // It names the thread of its digest (messages/digests/make.ts).
      'in a digest': { digest_id: 'digest', state: 'digest' },
      digest: { due_at: 1, state: 'pending', settled_at: null },
      // The newest of each is within the number that is kept.
      last: { due_at: 1, state: 'pending', settled_at: null },
    };
    for (const [index, [name, wait]] of Object.entries(waits).entries()) {
      const own = { team_id: team.teamId, created_at: index + 1 };
      await storage.db
        .insertInto('threads')
        .values({ ...threadOf(team), ...own, id: name, key: name, closed_at: 1 } as never)
        .execute();
      const message = { ...messageOf(team, 'closed'), ...own, id: `m ${name}`, thread_id: name, ...wait };
      // The newest that was sent is within the number that is kept.
      const sent = { ...messageOf(team, 'closed'), ...own, id: 'm sent last', thread_id: name, kind: 'reminder' };
      const values = name === 'last' ? [message, sent] : [message];
      await storage.db
        .insertInto('messages')
        .values(values as never)
        .execute();
    }
    const left = async (): Promise<string[]> =>
      (await storage.db.selectFrom('messages').select('thread_id').orderBy('created_at').execute()).map(({ thread_id: id }) => id);
    await sweep(storage);
    expect(await left()).toEqual(['due', 'for a digest', 'in a digest', 'digest', 'last', 'last']);
    await storage.db.updateTable('messages').set({ due_at: null, digest_at: null }).where('id', '<>', 'm last').execute();
    await sweep(storage);
    expect(await left()).toEqual(['last', 'last']);
    expect(await storage.db.selectFrom('threads').select('id').execute()).toEqual([{ id: 'last' }]);
  });
});
