import { expect, test } from 'vitest';
import { Counters } from '../../server/platform/core/counters.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { KEPT_PER_TEAM, RetentionService } from '../../server/operations/retention/service.ts';
import { KEPT_TABLES } from '../../server/operations/retention/store.ts';
import type { KeptTable } from '../../server/operations/retention/store.ts';
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
  router_state_changes: ({ routerId }) => {
    const state = { router_id: routerId, state: 'answering', reason: null };
    return { over: { ...state, until: 200 }, inUse: { ...state, until: null } };
  },
  agents: () => {
    const agent = { name: 'a', epoch: 0, confirmed_epoch: 0 };
    return { over: { ...agent, revoked_at: 1 }, inUse: { ...agent, revoked_at: null } };
  },
};

/** Columns that have to differ from record to record. */
const UNLIKE: Partial<Record<KeptTable, readonly string[]>> = {
  invitations: ['email', 'code_hash'],
  enrol_tokens: ['secret_hash'],
  api_keys: ['secret_hash'],
  agents: ['secret_hash'],
};

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
      await new RetentionService({ storage, clock, counters, kept }).sweep();
      const left = new Set((await storage.db.selectFrom(table).select('id').execute()).map(({ id }) => id));
      expect(made.filter((id) => left.has(id))).toEqual(made.slice(-KEEP));
      expect(others.filter((id) => left.has(id))).toEqual(others);
      expect(stay.filter((id) => left.has(id))).toEqual(stay);
      expect(counters.get('kept_records_per_team')).toBe(1);
      await new RetentionService({ storage, clock, counters, kept }).sweep();
      expect(counters.get('kept_records_per_team')).toBe(1);
    },
  );
});
