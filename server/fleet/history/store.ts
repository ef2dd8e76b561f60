import { sql } from 'kysely';
import type { SelectQueryBuilder, SqlBool } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import { ofTeamByIds } from '../../platform/storage/by-ids.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import { JOB_STATUS_SQL } from '../../platform/storage/job-status.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { AgentHistoryKind, HistoryFilter, HistoryItem, HistoryKind } from './types.ts';

/** A page of the history of an agent. */
export interface AgentAsk extends Omit<HistoryFilter, 'kinds'> {
  teamId: string;
  agentId: string;
  /** What began earlier is not part of this history, milliseconds. */
  createdAt: number;
  /** Nor what began later; null: it was not removed. */
  removedAt: number | null;
  page: Page;
}

/** A page of the history of a router. `agentId`: the agent that has the router now. */
export interface Ask extends AgentAsk {
  routerId: string;
}

type Source<A> = (db: DbOrTx, ask: A) => Promise<HistoryItem[]>;

/** One query for each kind, newest first. Each finds its page by an index on the router, the moment and the id. */
export const SOURCES: Record<HistoryKind, Source<Ask>> = {
  session: sessionsOf,
  unknown: unknownTimes,

  state: async (db, ask) => {
    const rows = await db
      .selectFrom('router_state_changes')
      .select(['id', 'since', 'until', 'state', 'reason'])
      .where('team_id', '=', ask.teamId)
      .where('router_id', '=', ask.routerId)
      .$call(begunIn(ask, 'since'))
      .execute();
    return rows.map(({ id, since, until, state, reason }) => ({
      kind: 'state',
      id,
      at: since,
      until,
      status: state,
      byId: null,
      link: null,
      title: reason === null ? state : `${state}: ${reason}`,
    }));
  },

  fault: async (db, ask) => {
    const rows = await db
      .selectFrom('faults')
      .select(['id', 'created_at', 'resolved_at', 'message', 'severity'])
      .where('team_id', '=', ask.teamId)
      .where('router_id', '=', ask.routerId)
      .$call(begunIn(ask, 'created_at'))
      .execute();
    return rows.map(({ id, created_at: at, resolved_at: until, message, severity }) => ({
      kind: 'fault',
      id,
      at,
      until,
      status: severity,
      title: message,
      byId: null,
      link: `/api/routers/${ask.routerId}/faults`,
    }));
  },

  job: async (db, ask) => {
    const rows = await db
      .selectFrom('jobs')
      .select(['id', 'created_at', 'completed_at', 'failed_at', 'deleted_at', 'description', 'created_by'])
      .select(sql<string>`${sql.raw(JOB_STATUS_SQL)}`.as('status'))
      .where('team_id', '=', ask.teamId)
      .where('router_id', '=', ask.routerId)
      .$call(begunIn(ask, 'created_at'))
      .execute();
    return rows.map(({ id, created_at: at, status, description: title, created_by: byId, ...ends }) => {
      const until = ends.completed_at ?? ends.failed_at ?? ends.deleted_at;
      return { kind: 'job', id, at, until, status, title, byId, link: `/api/routers/${ask.routerId}/jobs/${id}` };
    });
  },

  forward: async (db, ask) => {
    const rows = await db
      .selectFrom('forwards')
      .select(['id', 'created_at', 'closed_at', 'dst_address', 'dst_port', 'allow_only_cidr', 'created_by'])
      .where('team_id', '=', ask.teamId)
      .where('router_id', '=', ask.routerId)
      .$call(begunIn(ask, 'created_at'))
      .execute();
    return rows.map(({ id, created_at: at, closed_at: until, dst_address: host, dst_port: port, allow_only_cidr: source, ...row }) => ({
      kind: 'forward',
      id,
      at,
      until,
      status: until === null ? 'open' : 'closed',
      byId: row.created_by,
      title: `${host.includes(':') ? `[${host}]` : host}:${port} for ${source}`,
      link: `/api/routers/${ask.routerId}/transient-forwarding/${id}`,
    }));
  },

  // One whose shell never opened is an action that was refused.
  terminal: async (db, ask) => {
    const rows = await db
      .selectFrom('terminals')
      .select(['id', 'created_at', 'ended_at', 'end_reason', 'level', 'reason', 'opened_by'])
      .where('team_id', '=', ask.teamId)
      .where('router_id', '=', ask.routerId)
      .where('opened_at', 'is not', null)
      .$call(begunIn(ask, 'created_at'))
      .execute();
    return rows.map(({ id, created_at: at, ended_at: until, end_reason: endedBy, level, reason, opened_by: byId }) => ({
      kind: 'terminal',
      id,
      at,
      until,
      status: endedBy ?? 'open',
      title: `${level}: ${reason}`,
      byId,
      link: `/api/terminals/${id}`,
    }));
  },

  backup: async (db, ask) => {
    const rows = await db
      .selectFrom('backups')
      .select(['id', 'created_at', 'stored_at', 'state'])
      .where('team_id', '=', ask.teamId)
      .where('router_id', '=', ask.routerId)
      .$call(begunIn(ask, 'created_at'))
      .execute();
    return rows.map(({ id, created_at: at, stored_at: until, state: status }) => ({
      kind: 'backup',
      id,
      at,
      until,
      status,
      title: 'backup',
      byId: null,
      link: `/api/routers/${ask.routerId}/backups/${id}`,
    }));
  },

  action: async (db, ask) => {
    const rows = await db
      .selectFrom('audit_log')
      .select(['id', 'at', 'action', 'detail', 'result', 'actor_id'])
      .where('team_id', '=', ask.teamId)
      .where('router_id', '=', ask.routerId)
      .where(isNoRecordOfItsOwn)
      .$call(begunIn(ask, 'at'))
      .execute();
    return rows.map(({ id, at, action, detail, result, actor_id: byId }) => ({
      kind: 'action',
      id,
      at,
      until: null,
      status: String(result),
      title: detail === null ? action : `${action}: ${detail}`,
      byId,
      link: null,
    }));
  },
};

async function sessionsOf(db: DbOrTx, ask: AgentAsk): Promise<HistoryItem[]> {
  const rows = await db
    .selectFrom('agent_sessions')
    .select(['id', 'opened_at', 'closed_at', 'address', 'ended_by'])
    .where('team_id', '=', ask.teamId)
    .where('agent_id', '=', ask.agentId)
    .$call(begunIn(inItsTime(ask), 'opened_at'))
    .execute();
  return rows.map(({ id, opened_at: at, closed_at: until, address, ended_by: endedBy }) => ({
    kind: 'session',
    id,
    at,
    until,
    status: endedBy ?? 'open',
    byId: null,
    link: `/api/agents/${ask.agentId}/sessions`,
    title: `the agent connected from ${address}`,
  }));
}

/**
 * The times in which no control plane ran. A forward step of its clock also ends a run: nobody saw the time that it skipped. After
 * a backward step there is no time between the two runs. Runs of several control planes overlap: such a time begins with the end of a run
 * that no other one outlasts.
 */
async function unknownTimes(db: DbOrTx, ask: AgentAsk): Promise<HistoryItem[]> {
  const end = sql<number>`coalesce(server_runs.stopped_at, server_runs.alive_at)`;
  const endOfOther = sql<number>`coalesce(other.stopped_at, other.alive_at)`;
  const rows = await db
    .selectFrom((eb) =>
      eb
        .selectFrom('server_runs')
        .select('server_runs.id')
        .select(end.as('at'))
        .select(
          sql<number>`(select started_at from server_runs as other where other.id > server_runs.id and ${endOfOther} > ${end}
            order by other.id limit 1)`.as('until'),
        )
        .where(
          sql<SqlBool>`not exists (select 1 from server_runs as other where ${endOfOther} >= ${end} and other.started_at <= ${end}
            and (${endOfOther} > ${end} or other.id > server_runs.id))`,
        )
        .as('runs'),
    )
    .select(['id', 'at', 'until'])
    .where('until', '>', (eb) => eb.ref('at'))
    .$call(begunIn(inItsTime({ ...ask, from: Math.max(ask.from ?? 0, ask.createdAt) }), 'at'))
    .execute();
  return rows.map(({ id, at, until }) => ({
    kind: 'unknown',
    id,
    at,
    until,
    status: 'unknown',
    title: 'no control plane was running',
    byId: null,
    link: null,
  }));
}

/** Sources of an agent's own history. */
export const AGENT_SOURCES: Record<AgentHistoryKind, Source<AgentAsk>> = { session: sessionsOf, unknown: unknownTimes };

/** A job, forward or terminal that was made is shown as such. */
const isNoRecordOfItsOwn = sql<SqlBool>`not (result < 300 and action in (
  'POST /api/asynchronous/:router_id', 'POST /api/routers/:router_id/transient-forwarding', 'POST /api/routers/:router_id/terminals',
  'terminal attached', 'terminal ended'))`;

/** Without what began after it was removed. */
function inItsTime({ removedAt, to, ...ask }: AgentAsk): AgentAsk {
  return { ...ask, removedAt, to: removedAt === null ? to : Math.min(to ?? removedAt, removedAt) };
}

/** For `$call`: the page of what began in the time that was asked for. */
function begunIn<Tables, Table extends keyof Tables, Row>(
  { from, to, page }: Pick<AgentAsk, 'from' | 'to' | 'page'>,
  at: string,
): (query: SelectQueryBuilder<Tables, Table, Row>) => SelectQueryBuilder<Tables, Table, Row> {
  const moment = sql.ref(at);
  return (query) => {
    const late = from === undefined ? query : query.where(sql<SqlBool>`${moment} >= ${from}`);
    const timely = to === undefined ? late : late.where(sql<SqlBool>`${moment} < ${to}`);
    return timely.$call(newestFirst(page, at));
  };
}

/** Names of API keys and agents of a team, and addresses of people, by id. People who have left the team keep theirs. */
export async function selectNames(db: DbOrTx, teamId: string, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const keys = await db.selectFrom('api_keys').select(['id', 'name']).$call(ofTeamByIds(teamId, ids)).execute();
  const agents = await db.selectFrom('agents').select(['id', 'name']).$call(ofTeamByIds(teamId, ids)).execute();
  const people = await db.selectFrom('users').select(['id', 'email as name']).where('id', 'in', ids).execute();
  return new Map([...keys, ...agents, ...people].map(({ id, name }) => [id, name]));
}
