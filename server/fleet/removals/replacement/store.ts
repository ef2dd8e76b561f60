import { sql } from 'kysely';
import type { RouterRecord } from '../../routers/types.ts';
import { inChunks } from '../../../platform/storage/columns.ts';
import type { Tx } from '../../../platform/storage/db.ts';

export { lockRouters } from '../../../platform/storage/router-lock.ts';
export { lockTeam } from '../../../platform/storage/team-lock.ts';

/** Changes of a replacement to the records of the two routers. All of them run in the transaction that locks both. */

/** The record that stays, and that of the new hardware, which is merged into it. */
export interface Pair {
  old: RouterRecord;
  fresh: RouterRecord;
  now: number;
}

/** A campaign that has not reached one of these routers yet. */
export async function selectCampaignAhead(tx: Tx, teamId: string, routerIds: readonly string[]): Promise<string | undefined> {
  const row = await tx
    .selectFrom('campaign_targets')
    .innerJoin('campaigns', 'campaigns.id', 'campaign_targets.campaign_id')
    .select('campaigns.id')
    .where('campaign_targets.team_id', '=', teamId)
    .where('campaign_targets.router_id', 'in', routerIds)
    .where('campaign_targets.status', 'in', ['waiting', 'claimed'])
    .where('campaigns.finished_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

/** What tells and describes the hardware of a router. */
const HARDWARE = [
  'hardware_id',
  'agent_id',
  'agent_router',
  'serial_number',
  'software_id',
  'identity',
  'software_version',
  'version_key',
  'model',
  'board_name',
  'hardware_board',
  'architecture',
  'time_zone',
  'terminal_levels',
] as const satisfies readonly (keyof RouterRecord)[];

/** The old record takes over the new hardware. Mark the new record as removed first: a hardware id belongs to one router. */
export async function takeHardware(tx: Tx, { old, fresh, now }: Pair): Promise<RouterRecord> {
  const hardware = Object.fromEntries(HARDWARE.map((column) => [column, fresh[column]]));
  return tx
    .updateTable('routers')
    .set({ ...hardware, updated_at: now })
    .where('team_id', '=', old.team_id)
    .where('id', '=', old.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Moves the history of the new hardware to the router. Campaign targets of both stay separate. */
export async function moveHistory(tx: Tx, { old, fresh }: Pair): Promise<void> {
  await sql`
    update campaign_targets set router_id = ${old.id} where team_id = ${old.team_id} and router_id = ${fresh.id}
    and campaign_id not in (select campaign_id from campaign_targets where router_id = ${old.id})`.execute(tx);
  const ofBoth = tx
    .selectFrom('campaign_targets')
    .select('job_id')
    .where('campaign_targets.router_id', '=', fresh.id)
    .where('job_id', 'is not', null);
  await sql`
    update jobs set router_id = ${old.id} where team_id = ${old.team_id} and router_id = ${fresh.id} and id not in (${ofBoth})`.execute(tx);
  await sql`
    update backups set router_id = ${old.id} where team_id = ${old.team_id} and router_id = ${fresh.id} 
    and (job_id is null or job_id not in (${ofBoth}))`.execute(tx);
  await sql`update forwards set router_id = ${old.id} where team_id = ${old.team_id} and router_id = ${fresh.id}`.execute(tx);
  await sql`update terminals set router_id = ${old.id} where team_id = ${old.team_id} and router_id = ${fresh.id}`.execute(tx);
  await moveFaults(tx, old.team_id, fresh.id, old.id);
}

/** Moves faults, also open ones. Resolve those of the old hardware first. */
export async function moveFaults(tx: Tx, teamId: string, fromId: string, toId: string): Promise<void> {
  await sql`
    update faults set router_id = ${toId} where team_id = ${teamId} and router_id = ${fromId}
    and (resolved_at is not null or type not in (select type from faults where router_id = ${toId} and resolved_at is null))`.execute(tx);
}

/** Moves presence, position and claims of the new hardware. Delete those of the old hardware first. */
export async function movePresent(tx: Tx, { old, fresh }: Pair): Promise<void> {
  for (const table of ['router_presence', 'router_positions', 'router_moves']) {
    await sql`update ${sql.table(table)} set router_id = ${old.id} where router_id = ${fresh.id}`.execute(tx);
  }
}

/** Moves the new hardware's devices to the old one's scope; devices that only the old hardware saw are no longer present. */
export async function moveDevices(tx: Tx, { old, fresh, now }: Pair, newId: () => string): Promise<void> {
  const [from, to] = [fresh.site_id ?? fresh.id, old.site_id ?? old.id];
  const team = old.team_id;
  await tx
    .updateTable('device_sightings')
    .set({ present: 0, last_seen_at: now })
    .where('router_id', '=', old.id)
    .where('present', '<>', 0)
    .execute();
  const seen = await tx
    .selectFrom('device_sightings')
    .innerJoin('devices', 'devices.id', 'device_sightings.device_id')
    .select(['devices.id', 'devices.mac', 'devices.hostname', 'devices.manufacturer', 'devices.first_seen_at'])
    .where('device_sightings.router_id', '=', fresh.id)
    .where('devices.team_id', '=', team)
    .execute();
  for (const chunk of from === to ? [] : inChunks(seen)) {
    const copies = chunk.map((device) => ({ ...device, id: newId(), team_id: team, place: to, site_id: old.site_id }));
    await tx
      .insertInto('devices')
      .values(copies)
      .onConflict((conflict) => conflict.columns(['team_id', 'place', 'mac']).doNothing())
      .execute();
  }
  await sql`
    delete from device_sightings where router_id = ${old.id} and device_id in (
      select there.id from devices there join devices here on here.team_id = there.team_id and here.mac = there.mac
      join device_sightings seen on seen.device_id = here.id
      where seen.router_id = ${fresh.id} and there.team_id = ${team} and there.place = ${to})`.execute(tx);
  await sql`
    update device_sightings set router_id = ${old.id}, device_id = (
      select there.id from devices there join devices here on here.team_id = there.team_id and here.mac = there.mac
      where here.id = device_sightings.device_id and there.team_id = ${team} and there.place = ${to})
    where router_id = ${fresh.id}`.execute(tx);
  for (const chunk of from === to ? [] : inChunks(seen))
    await forgetUnseen(
      tx,
      team,
      chunk.map(({ id }) => id),
    );
  await tx.deleteFrom('device_reports').where('router_id', '=', old.id).execute();
  await sql`update device_reports set router_id = ${old.id} where router_id = ${fresh.id}`.execute(tx);
}

async function forgetUnseen(tx: Tx, teamId: string, deviceIds: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('devices')
    .where('team_id', '=', teamId)
    .where('id', 'in', deviceIds)
    .where('id', 'not in', (eb) => eb.selectFrom('device_sightings').select('device_id').where('device_id', 'in', deviceIds))
    .execute();
}
