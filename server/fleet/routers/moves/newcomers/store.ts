import { sql } from 'kysely';
import { inChunks } from '../../../../platform/storage/columns.ts';
import type { Tx } from '../../../../platform/storage/db.ts';
import { padded } from '../../../../platform/storage/padded.ts';
import { insertNewRouters } from '../../store.ts';
import type { RouterRecord } from '../../types.ts';
import type { Sighting } from '../service.ts';
import { selectClaimers } from '../store.ts';

/** Routers of one INSERT: 20 columns each, well under SQLite's 32,766 parameters, and 1 ms of work. */
const ROWS_AT_ONCE = 100;

/**
 * Stores those of a team's sightings that are simply new: nobody has the hardware id in any spelling, no router has the name at this agent,
 * and the agent claims nothing. A few statements for all of them. The caller has locked the team, so that no other agent brings one of them.
 * @param sightings of one team, each of another agent
 * @returns the new routers; what is missing has to be looked at by itself
 */
export async function storeNewcomers(tx: Tx, sightings: readonly Sighting[]): Promise<Map<Sighting, RouterRecord>> {
  const said = onlyOnce(sightings);
  const hardware = await selectKnownHardware(tx, said);
  const named = await selectNamed(tx, said);
  const claimers = await selectClaimers(
    tx,
    said.map(({ agentId }) => agentId),
  );
  const fresh = said.filter((one) => !hardware.has(one.newId) && !named.has(one.newId) && !claimers.has(one.agentId));
  const routers = new Map<string, RouterRecord>();
  for (const rows of inChunks(fresh, ROWS_AT_ONCE)) for (const router of await insertNewRouters(tx, rows)) routers.set(router.id, router);
  return new Map(fresh.flatMap((one) => (routers.has(one.newId) ? [[one, routers.get(one.newId)!] as const] : [])));
}

/** Two that say they are the same device have to be compared. */
function onlyOnce(sightings: readonly Sighting[]): Sighting[] {
  const spelt = Map.groupBy(sightings, ({ facts }) => facts.hardware_id.trim().toUpperCase());
  return sightings.filter(({ facts }) => spelt.get(facts.hardware_id.trim().toUpperCase())!.length === 1);
}

/** New ids of those sightings whose hardware id a router of the team has, in any spelling. */
async function selectKnownHardware(tx: Tx, sightings: readonly Sighting[]): Promise<Set<string>> {
  if (sightings.length === 0) return new Set();
  const rows = padded(sightings).map(
    ({ newId, teamId, facts }) => sql`(cast(${newId} as text), cast(${teamId} as text), cast(${facts.hardware_id} as text))`,
  );
  const known = await sql<{ sighting: string }>`
    with said (sighting, team, hardware) as (values ${sql.join(rows)})
    select sighting from said inner join routers on team_id = team and upper(trim(hardware_id)) = upper(trim(hardware))
    where removed_at is null`.execute(tx);
  return new Set(known.rows.map(({ sighting }) => sighting));
}

/** New ids of those sightings under whose name the agent has a router. */
async function selectNamed(tx: Tx, sightings: readonly Sighting[]): Promise<Set<string>> {
  if (sightings.length === 0) return new Set();
  const rows = padded(sightings).map(
    ({ newId, teamId, agentId, agentEntry }) =>
      sql`(cast(${newId} as text), cast(${teamId} as text), cast(${agentId} as text), cast(${agentEntry} as text))`,
  );
  const named = await sql<{ sighting: string }>`
    with said (sighting, team, agent, entry) as (values ${sql.join(rows)})
    select sighting from said inner join routers on agent_id = agent and agent_router = entry and team_id = team`.execute(tx);
  return new Set(named.rows.map(({ sighting }) => sighting));
}
