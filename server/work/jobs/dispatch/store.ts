import { sql } from 'kysely';
import type { SqlBool } from 'kysely';
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

/** The next job of a router: express jobs first, then in order of creation. Undefined while a job is under way. */
export async function selectNextJob(
  db: DbOrTx,
  query: { routerId: string; agentId: string; expressOnly: boolean; now: number },
): Promise<OfferableJob | undefined> {
  let jobs = db
    .selectFrom('jobs')
    .innerJoin('routers', (join) => join.onRef('routers.id', '=', 'jobs.router_id').onRef('routers.team_id', '=', 'jobs.team_id'))
    .select(['jobs.id', 'jobs.script', 'jobs.make_backup', 'jobs.needs_acknowledgement', 'jobs.timeout_ms', 'jobs.undo_seconds'])
    .select(['routers.agent_router', 'routers.hardware_id'])
    .where('jobs.router_id', '=', query.routerId)
    .where('jobs.phase', '=', 'queued')
    .where(expiresAfter(query.now))
    .where('routers.agent_id', '=', query.agentId)
    .where('routers.agent_router', '<>', '')
    .where(nothingUnderWay());
  if (query.expressOnly) jobs = jobs.where('jobs.express_execute', '=', 1);
  const row = await jobs.orderBy('jobs.express_execute', 'desc').orderBy('jobs.created_at').orderBy('jobs.id').limit(1).executeTakeFirst();
  return row && { agentId: query.agentId, routerId: query.routerId, offer: toOffer(row) };
}

interface OfferRow {
  id: string;
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
