import { sql } from 'kysely';
import { hasChanged, readChanged } from '../../platform/storage/changed-since.ts';
import type { ChangeMark } from '../../platform/storage/changed-since.ts';
import type { DbOrTx, Tx } from '../../platform/storage/db.ts';
import { padded } from '../../platform/storage/padded.ts';
import type { RouterRecord } from '../routers/types.ts';
import { markRevokedAgentRemoved } from '../agents/service.ts';
import { resolveAllOf } from '../faults/service.ts';

export { lockRouters } from '../../platform/storage/router-lock.ts';
export { lockTeam } from '../../platform/storage/team-lock.ts';

/** Changes of a removal to the records of a router, other than its jobs and forwards. */

interface OfRouter {
  teamId: string;
  routerId: string;
  now: number;
}

export async function isAgentRevoked(tx: Tx, teamId: string, agentId: string): Promise<boolean> {
  const row = await tx.selectFrom('agents').select('revoked_at').where('team_id', '=', teamId).where('id', '=', agentId).executeTakeFirst();
  return row !== undefined && row.revoked_at !== null;
}

/** The routers of an agent, oldest first, up to the limit per agent. */
export async function selectRoutersOf(db: DbOrTx, teamId: string, agentId: string): Promise<{ id: string; identity: string }[]> {
  return db
    .selectFrom('routers')
    .select(['id', 'identity'])
    .where('team_id', '=', teamId)
    .where('agent_id', '=', agentId)
    .where('removed_at', 'is', null)
    .orderBy('id')
    .execute();
}

/** Removes a revoked agent and its claims. False while it has a router. */
export async function markAgentRemoved(
  tx: Tx,
  { teamId, agentId, now }: { teamId: string; agentId: string; now: number },
): Promise<boolean> {
  if ((await selectRoutersOf(tx, teamId, agentId)).length > 0) return false;
  await tx.deleteFrom('router_moves').where('team_id', '=', teamId).where('agent_id', '=', agentId).execute();
  return markRevokedAgentRemoved(tx, { teamId, agentId, now });
}

/** Claims of other agents on this router, with its name there. Without revoked agents. */
export async function selectClaims(db: DbOrTx, teamId: string, routerId: string): Promise<{ agent_id: string; agent_router: string }[]> {
  return db
    .selectFrom('router_moves')
    .innerJoin('agents', 'agents.id', 'router_moves.agent_id')
    .select(['router_moves.agent_id', 'router_moves.agent_router'])
    .where('router_moves.team_id', '=', teamId)
    .where('router_moves.router_id', '=', routerId)
    .where('agents.revoked_at', 'is', null)
    .execute();
}

/** An agent that reports a router, or claims it, and the router's name there. */
export interface Reporter {
  routerId: string;
  agentId: string;
  name: string;
}

/** Who reports or claims these routers. Without revoked agents. */
export async function selectReporters(db: DbOrTx, teamId: string, routerIds: readonly string[]): Promise<Reporter[]> {
  const owners = await db
    .selectFrom('routers')
    .innerJoin('agents', 'agents.id', 'routers.agent_id')
    .select(['routers.id as routerId', 'routers.agent_id as agentId', 'routers.agent_router as name'])
    .where('routers.team_id', '=', teamId)
    .where('routers.id', 'in', padded(routerIds))
    .where('routers.removed_at', 'is', null)
    .where('agents.revoked_at', 'is', null)
    .execute();
  const claimers: Reporter[] = [];
  for (const routerId of routerIds)
    for (const { agent_id: agentId, agent_router: name } of await selectClaims(db, teamId, routerId))
      claimers.push({ routerId, agentId, name });
  return [...owners, ...claimers];
}

/** Clears the router's site and name at its agent; its hardware may return as another router. */
export async function markRemoved(tx: Tx, { teamId, routerId, now }: OfRouter, mergedInto: string | null = null): Promise<RouterRecord> {
  return tx
    .updateTable('routers')
    .set({ removed_at: now, merged_into: mergedInto, agent_router: '', site_id: null, updated_at: now })
    .where('team_id', '=', teamId)
    .where('id', '=', routerId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Ends its present state: presence, position, claims, open faults, and backups that were not fetched yet. Those that are stored stay. */
export async function endPresent(tx: Tx, { teamId, routerId, now }: OfRouter): Promise<void> {
  await tx.deleteFrom('router_presence').where('router_id', '=', routerId).execute();
  await tx.deleteFrom('router_positions').where('router_id', '=', routerId).execute();
  await tx.deleteFrom('router_moves').where('team_id', '=', teamId).where('router_id', '=', routerId).execute();
  await resolveAllOf(tx, { teamId, routerId, now });
  const due = tx.updateTable('backups').where('team_id', '=', teamId).where('router_id', '=', routerId).where('due_at', 'is not', null);
  // Only their files on the router were still to be deleted.
  await due.set({ due_at: null }).where('state', '=', 'stored').execute();
  await due.set({ state: 'lost', due_at: null, error: 'the router was removed or replaced before its backup was fetched' }).execute();
}

/**
 * Deletes the devices that only this router has seen. Aliases belong to MAC addresses and stay. The team is named where its devices are
 * found, and not where they are deleted: SQLite would then read all devices of the team. A cross join keeps the order of the tables.
 */
export async function forgetDevices(tx: Tx, teamId: string, routerId: string): Promise<void> {
  await sql`delete from devices where id in (
    select devices.id from device_sightings as seen cross join devices
    where seen.router_id = ${routerId} and devices.id = seen.device_id and devices.team_id = ${teamId} and not exists (
      select 1 from device_sightings as elsewhere where elsewhere.device_id = devices.id and elsewhere.router_id <> ${routerId}))`.execute(
    tx,
  );
  await tx.deleteFrom('device_sightings').where('router_id', '=', routerId).execute();
  await tx.deleteFrom('device_reports').where('router_id', '=', routerId).execute();
}

/** Deletes up to `limit` records of each kind of a removed router. @returns whether there are more */
export async function purgeSome(tx: Tx, teamId: string, routerId: string, limit: number): Promise<boolean> {
  let more = false;
  const backups = await tx
    .selectFrom('backups')
    .select('id')
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .limit(limit)
    .execute();
  if (backups.length > 0)
    await tx
      .deleteFrom('backups')
      .where(
        'id',
        'in',
        backups.map(({ id }) => id),
      )
      .execute();
  more ||= backups.length === limit;
  const jobs = await tx
    .selectFrom('jobs')
    .select('id')
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .limit(limit)
    .execute();
  if (jobs.length > 0) {
    const ids = jobs.map(({ id }) => id);
    await tx.updateTable('campaign_targets').set({ job_id: null }).where('job_id', 'in', ids).execute();
    await tx.deleteFrom('jobs').where('id', 'in', ids).execute();
  }
  more ||= jobs.length === limit;
  const connections = await tx
    .selectFrom('forward_connections')
    .select('id')
    .where('forward_id', 'in', (eb) =>
      eb.selectFrom('forwards').select('forwards.id').where('team_id', '=', teamId).where('router_id', '=', routerId),
    )
    .limit(limit)
    .execute();
  if (connections.length > 0)
    await tx
      .deleteFrom('forward_connections')
      .where(
        'id',
        'in',
        connections.map(({ id }) => id),
      )
      .execute();
  more ||= connections.length === limit;
  more = (await purgeRecorded(tx, teamId, routerId)) || more;
  return (await purgeHealth(tx, teamId, routerId, limit)) === limit || more;
}

/** Recordings deleted in one transaction: up to 16 MB each. */
const RECORDINGS_AT_ONCE = 5;

/** Deletes terminals with their recordings. @returns whether there may be more */
async function purgeRecorded(tx: Tx, teamId: string, routerId: string): Promise<boolean> {
  const recorded = await tx
    .selectFrom('terminals')
    .select('id')
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('recording_chunks', '>', 0)
    .where('recording_deleted_at', 'is', null)
    .limit(RECORDINGS_AT_ONCE)
    .execute();
  if (recorded.length === 0) return false;
  const ids = recorded.map(({ id }) => id);
  await tx.deleteFrom('terminals').where('team_id', '=', teamId).where('id', 'in', ids).execute();
  return recorded.length === RECORDINGS_AT_ONCE;
}

/** @returns how many steps were deleted */
async function purgeHealth(tx: Tx, teamId: string, routerId: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from router_health_steps where router_id = ${routerId} and (span_s, at, part) in (
      select span_s, at, part from router_health_steps where router_id = ${routerId}
      and exists (select 1 from routers where routers.id = ${routerId} and routers.team_id = ${teamId}) limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0n);
}

/** Deletes the rest, once {@link purgeSome} returns false. The record itself stays while a campaign names it. */
export async function deleteRemainingRecords(tx: Tx, teamId: string, routerId: string): Promise<void> {
  await tx.deleteFrom('forwards').where('team_id', '=', teamId).where('router_id', '=', routerId).execute();
  await tx.deleteFrom('terminals').where('team_id', '=', teamId).where('router_id', '=', routerId).execute();
  await tx.deleteFrom('faults').where('team_id', '=', teamId).where('router_id', '=', routerId).execute();
  await tx.deleteFrom('router_state_changes').where('team_id', '=', teamId).where('router_id', '=', routerId).execute();
  await tx
    .deleteFrom('routers')
    .where('team_id', '=', teamId)
    .where('id', '=', routerId)
    .where('removed_at', 'is not', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb.selectFrom('campaign_targets').select('campaign_targets.router_id').where('campaign_targets.router_id', '=', routerId),
        ),
      ),
    )
    .execute();
}

/** Whose a router is. */
export interface RouterPlace {
  id: string;
  agent_id: string;
  removed_at: number | null;
  merged_into: string | null;
}

/** Whether {@link selectChangedPlaces} would find any. */
export const HAVE_PLACES_CHANGED = hasChanged('routers');

/** Of routers of all teams that have changed since then, removed ones too. */
export function selectChangedPlaces(db: DbOrTx, mark: ChangeMark): Promise<{ rows: RouterPlace[]; mark: ChangeMark }> {
  return readChanged(
    db,
    mark,
    (isChanged) => sql<RouterPlace>`select id, agent_id, removed_at, merged_into from routers where ${isChanged('routers')}`,
  );
}

export async function selectPlaces(db: DbOrTx, ids: readonly string[]): Promise<RouterPlace[]> {
  return db.selectFrom('routers').select(['id', 'agent_id', 'removed_at', 'merged_into']).where('id', 'in', padded(ids)).execute();
}

/** Also those that were removed or merged. */
export async function selectRecords(db: DbOrTx, ids: readonly string[]): Promise<Map<string, RouterRecord>> {
  const rows = await db.selectFrom('routers').selectAll().where('id', 'in', padded(ids)).execute();
  return new Map(rows.map((row) => [row.id, row]));
}
