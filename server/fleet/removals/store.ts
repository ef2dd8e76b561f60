import type { DbOrTx, Tx } from '../../platform/storage/db.ts';
import type { RouterRecord } from '../routers/types.ts';
import { markRevokedAgentRemoved } from '../agents/service.ts';

export { lockRouters } from '../../platform/storage/router-lock.ts';
export { lockTeam } from '../../platform/storage/team-lock.ts';

/** What a removal does to the records of a router, beside its jobs and forwards. */

interface OfRouter {
  teamId: string;
  routerId: string;
  now: number;
}

export async function isAgentRevoked(tx: Tx, teamId: string, agentId: string): Promise<boolean> {
  const row = await tx.selectFrom('agents').select('revoked_at').where('team_id', '=', teamId).where('id', '=', agentId).executeTakeFirst();
  return row !== undefined && row.revoked_at !== null;
}

/** The routers of an agent, the oldest first: at most as many as an agent may have. */
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

/** Takes a revoked agent out of the lists, with what it claims. False while it has a router. */
export async function markAgentRemoved(
  tx: Tx,
  { teamId, agentId, now }: { teamId: string; agentId: string; now: number },
): Promise<boolean> {
  if ((await selectRoutersOf(tx, teamId, agentId)).length > 0) return false;
  await tx.deleteFrom('router_moves').where('team_id', '=', teamId).where('agent_id', '=', agentId).execute();
  return markRevokedAgentRemoved(tx, { teamId, agentId, now });
}

/** Who else says to have this router, with its name there: claims of agents that are not revoked. */
export async function selectClaims(tx: Tx, teamId: string, routerId: string): Promise<{ agent_id: string; agent_router: string }[]> {
  return tx
    .selectFrom('router_moves')
    .innerJoin('agents', 'agents.id', 'router_moves.agent_id')
    .select(['router_moves.agent_id', 'router_moves.agent_router'])
    .where('router_moves.team_id', '=', teamId)
    .where('router_moves.router_id', '=', routerId)
    .where('agents.revoked_at', 'is', null)
    .execute();
}

/** The router stands nowhere and hangs on no name; its hardware may come back as another router. */
export async function markRemoved(tx: Tx, { teamId, routerId, now }: OfRouter, mergedInto: string | null = null): Promise<RouterRecord> {
  return tx
    .updateTable('routers')
    .set({ removed_at: now, merged_into: mergedInto, agent_router: '', site_id: null, updated_at: now })
    .where('team_id', '=', teamId)
    .where('id', '=', routerId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Ends what is known of its present: presence, position, claims, faults, the backups that are still on it. */
export async function endPresent(tx: Tx, { teamId, routerId, now }: OfRouter): Promise<void> {
  await tx.deleteFrom('router_presence').where('router_id', '=', routerId).execute();
  await tx.deleteFrom('router_positions').where('router_id', '=', routerId).execute();
  await tx.deleteFrom('router_moves').where('team_id', '=', teamId).where('router_id', '=', routerId).execute();
  await resolveFaults(tx, { teamId, routerId, now });
  await tx
    .updateTable('backups')
    .set({ state: 'lost', due_at: null, error: 'the router was removed or replaced before its backup was fetched' })
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('due_at', 'is not', null)
    .execute();
}

export async function resolveFaults(tx: Tx, { teamId, routerId, now }: OfRouter): Promise<void> {
  await tx
    .updateTable('faults')
    .set((eb) => ({ resolved_at: eb.case().when('created_at', '>', now).then(eb.ref('created_at')).else(now).end(), updated_at: now }))
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('resolved_at', 'is', null)
    .execute();
}

/** Forgets the devices that only this router has seen. Aliases belong to MAC addresses and stay. */
export async function forgetDevices(tx: Tx, teamId: string, routerId: string): Promise<void> {
  await tx
    .deleteFrom('devices')
    .where('team_id', '=', teamId)
    .where('id', 'in', (eb) => eb.selectFrom('device_sightings').select('device_id').where('router_id', '=', routerId))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('device_sightings as seen')
            .select('seen.device_id')
            .whereRef('seen.device_id', '=', 'devices.id')
            .where('seen.router_id', '<>', routerId),
        ),
      ),
    )
    .execute();
  await tx.deleteFrom('device_sightings').where('router_id', '=', routerId).execute();
  await tx.deleteFrom('device_reports').where('router_id', '=', routerId).execute();
}

/** Of the records of a removed router, deletes so many of each kind at most. @returns whether there are more */
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
  return more || connections.length === limit;
}

/** The rest, once {@link purgeSome} has nothing more. The record itself stays as long as a campaign names it. */
export async function purgeRest(tx: Tx, teamId: string, routerId: string): Promise<void> {
  await tx.deleteFrom('forwards').where('team_id', '=', teamId).where('router_id', '=', routerId).execute();
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
