import { sql } from 'kysely';
import type { SqlBool } from 'kysely';
import { idFloor } from '../../../platform/core/ids.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { padded } from '../../../platform/storage/padded.ts';
import { HELD } from '../state.ts';
import type { OfferableJob, WaitingRouter } from '../types.ts';

/** Selects what can be offered now. An offer is no permission to run: only `acceptJob` gives that. */

/** One job at a time per router. */
function nothingUnderWay() {
  return sql<SqlBool>`not exists (select 1 from jobs as held where held.router_id = routers.id and held.phase in (${sql.join(HELD)}))`;
}

/** `+ 0` keeps SQLite from reading the queued jobs of all teams by their expiry: those of one router have an index. */
function expiresAfter(now: number) {
  return sql<SqlBool>`(jobs.expires_at + 0) > ${now}`;
}

/** Routers of these agents (at most 500) that have a queued job and none under way. */
export async function selectWaitingRouters(db: DbOrTx, agentIds: readonly string[], now: number): Promise<WaitingRouter[]> {
  const rows = await db
    .selectFrom('routers')
    .select(['routers.id', 'routers.agent_id', 'routers.agent_router'])
    .select((eb) =>
      eb
        .selectFrom('jobs')
        .select((jobs) => jobs.fn.max<number | null>('jobs.express_execute').as('express'))
        .whereRef('jobs.router_id', '=', 'routers.id')
        .where('jobs.phase', '=', 'queued')
        .where(expiresAfter(now))
        .as('express'),
    )
    .where('routers.agent_id', 'in', padded(agentIds))
    .where('routers.agent_router', '<>', '')
    .where(nothingUnderWay())
    .execute();
  return rows.flatMap(({ id, agent_id: agentId, agent_router: agentEntry, express }) =>
    express === null ? [] : [{ routerId: id, agentId, agentEntry, express: express === 1 }],
  );
}

/** Express jobs that were created this long ago are found by the poll of all agents. Clocks of control planes differ by less. */
const JUST_CREATED_MS = 120_000;

/** Agents with their tunnels at this control plane that have an express job waiting which was created just now. */
export async function selectAgentsWithExpressJobs(db: DbOrTx, nodeId: string, now: number): Promise<string[]> {
  const rows = await db
    .selectFrom('jobs')
    .innerJoin('routers', 'routers.id', 'jobs.router_id')
    .innerJoin('agents', 'agents.id', 'routers.agent_id')
    .select('agents.id')
    .distinct()
    .where('jobs.id', '>=', idFloor(now - JUST_CREATED_MS))
    .where('jobs.phase', '=', 'queued')
    .where('jobs.express_execute', '=', 1)
    .where(expiresAfter(now))
    .where('agents.node_id', '=', nodeId)
    .execute();
  return rows.map(({ id }) => id);
}

/** A router that can get a job, and the agent that it must still have. */
export interface NextJobQuery {
  routerId: string;
  agentId: string;
  expressOnly: boolean;
}

/**
 * The next job of each of these routers: express jobs first, then in order of creation. Undefined while a job is under way. One statement for
 * those that may get any job, and one for those that only get express jobs.
 */
export async function selectNextJobs(db: DbOrTx, queries: readonly NextJobQuery[], now: number): Promise<(OfferableJob | undefined)[]> {
  const rows = new Map<string, OfferRow>();
  for (const expressOnly of [false, true]) {
    const routerIds = queries.filter((query) => query.expressOnly === expressOnly).map(({ routerId }) => routerId);
    if (routerIds.length === 0) continue;
    for (const row of await selectNext(db, routerIds, { expressOnly, now })) rows.set(row.router_id, row);
  }
  return queries.map(({ routerId, agentId }) => {
    const row = rows.get(routerId);
    return row?.router_agent === agentId ? { agentId, routerId, offer: toOffer(row) } : undefined;
  });
}

async function selectNext(db: DbOrTx, routerIds: readonly string[], { expressOnly, now }: { expressOnly: boolean; now: number }) {
  return db
    .selectFrom('routers')
    .innerJoin('jobs', (join) =>
      join.onRef('jobs.team_id', '=', 'routers.team_id').on('jobs.id', '=', (eb) => {
        let queued = eb
          .selectFrom('jobs as queued')
          .select('queued.id')
          .whereRef('queued.router_id', '=', 'routers.id')
          .where('queued.phase', '=', 'queued')
          .where(sql<SqlBool>`(queued.expires_at + 0) > ${now}`);
        if (expressOnly) queued = queued.where('queued.express_execute', '=', 1);
        return queued.orderBy('queued.express_execute', 'desc').orderBy('queued.created_at').orderBy('queued.id').limit(1);
      }),
    )
    .select(['jobs.id', 'jobs.script', 'jobs.make_backup', 'jobs.needs_acknowledgement', 'jobs.timeout_ms', 'jobs.undo_seconds'])
    .select(['routers.id as router_id', 'routers.agent_id as router_agent', 'routers.agent_router', 'routers.hardware_id'])
    .where('routers.id', 'in', padded(routerIds))
    .where('routers.agent_router', '<>', '')
    .where(nothingUnderWay())
    .execute();
}

interface OfferRow {
  id: string;
  router_id: string;
  router_agent: string;
  script: string;
  make_backup: 0 | 1;
  needs_acknowledgement: 0 | 1;
  timeout_ms: number;
  undo_seconds: number | null;
  agent_router: string;
  hardware_id: string;
}

function toOffer(row: OfferRow): OfferableJob['offer'] {
  return {
    type: 'job.offer',
    job_id: row.id,
    router: row.agent_router,
    hardware_id: row.hardware_id,
    script: row.script,
    make_backup: row.make_backup === 1,
    needs_acknowledgement: row.needs_acknowledgement === 1,
    timeout_ms: row.timeout_ms,
    ...(row.undo_seconds === null ? {} : { undo_unless_reachable_seconds: row.undo_seconds }),
  };
}
