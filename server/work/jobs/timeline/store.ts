import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { ofTeamByIds } from '../../../platform/storage/by-ids.ts';
import type { Db } from '../../../platform/storage/db.ts';
import { encodeNote } from './notes.ts';
import type { Note } from './notes.ts';
import type { Names, Situation } from './types.ts';

/** Some 60 notes: jobs have three or four. An agent that reports without end fills no disk. */
const MOST_CHARS = 4000;
/** States of the router that are read for one job: one that comes and goes for days. */
const MOST_STATES = 200;

/** The value of `transitions` with one more note, for the statement that makes the transition. */
export function noted(note: Note): RawBuilder<string> {
  return sql<string>`case when length(coalesce(transitions, '')) < ${sql.lit(MOST_CHARS)}
    then coalesce(transitions, '') || cast(${encodeNote(note)} as text) else transitions end`;
}

/** The states in which a router was at a time, oldest first; of very many the newest. */
export async function selectSituations(
  db: Db,
  { teamId, routerId, from, to }: { teamId: string; routerId: string; from: number; to: number },
): Promise<Situation[]> {
  const rows = await db
    .selectFrom('router_state_changes')
    .select(['state', 'reason', 'since', 'until'])
    .where('team_id', '=', teamId)
    .where('router_id', '=', routerId)
    .where('since', '<', to)
    .where((eb) => eb.or([eb('until', 'is', null), eb('until', '>', from)]))
    .orderBy('since', 'desc')
    .limit(MOST_STATES)
    .execute();
  return rows.toReversed();
}

export async function selectCampaignOf(db: Db, teamId: string, jobId: string): Promise<string | null> {
  const row = await db
    .selectFrom('campaign_targets')
    .select('campaign_id')
    .where('team_id', '=', teamId)
    .where('job_id', '=', jobId)
    .limit(1)
    .executeTakeFirst();
  return row?.campaign_id ?? null;
}

/** What keys, people and agents are called. */
export async function selectNames(db: Db, teamId: string, ids: readonly string[]): Promise<Names> {
  if (ids.length === 0) return { keys: new Map(), people: new Map(), agents: new Map() };
  const keys = await db.selectFrom('api_keys').select(['id', 'name']).$call(ofTeamByIds(teamId, ids)).execute();
  const agents = await db.selectFrom('agents').select(['id', 'name']).$call(ofTeamByIds(teamId, ids)).execute();
  const people = await db
    .selectFrom('users')
    .innerJoin('members', 'members.user_id', 'users.id')
    .select(['users.id', 'users.email as name'])
    .where('members.team_id', '=', teamId)
    .where('users.id', 'in', ids)
    .execute();
  const byId = (rows: { id: string; name: string }[]) => new Map(rows.map(({ id, name }) => [id, name]));
  return { keys: byId(keys), people: byId(people), agents: byId(agents) };
}
