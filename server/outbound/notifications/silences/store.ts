import type { Selectable } from 'kysely';
import type { Page } from '../../../platform/core/page.ts';
import { inChunks } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import type { SilencesTable } from '../../../platform/storage/schema-notifications.ts';
import { silencedUntil } from './is-silenced.ts';
import type { Silence } from './types.ts';

export { lockTeam } from '../../../platform/storage/team-lock.ts';

function toSilence(row: Selectable<SilencesTable>): Silence {
  return {
    id: row.id,
    teamId: row.team_id,
    routerId: row.router_id,
    siteId: row.site_id,
    from: row.from_at,
    until: row.until_at,
    reason: row.reason,
    createdBy: { kind: row.created_by_kind === 'user' ? 'user' : 'api_key', id: row.created_by },
    createdAt: row.created_at,
  };
}

export async function insertSilence(db: DbOrTx, silence: Silence): Promise<void> {
  await db
    .insertInto('silences')
    .values({
      id: silence.id,
      team_id: silence.teamId,
      router_id: silence.routerId,
      site_id: silence.siteId,
      from_at: silence.from,
      until_at: silence.until,
      reason: silence.reason,
      created_by_kind: silence.createdBy.kind,
      created_by: silence.createdBy.id,
      created_at: silence.createdAt,
    })
    .execute();
}

/** Newest first. */
export async function selectSilences(db: DbOrTx, teamId: string, page: Page): Promise<Silence[]> {
  const rows = await db.selectFrom('silences').selectAll().where('team_id', '=', teamId).$call(newestFirst(page)).execute();
  return rows.map(toSilence);
}

/** Those that have not ended. */
export async function selectLastingSilences(db: DbOrTx, teamId: string, now: number): Promise<Silence[]> {
  const rows = await db.selectFrom('silences').selectAll().where('team_id', '=', teamId).where('until_at', '>', now).execute();
  return rows.map(toSilence);
}

/** Something of which a fact tells: a router, an agent, a site, or several of them. */
export interface Fact {
  id: string;
  routerId: string | null;
  siteId: string | null;
  /** For a fact of an agent and nothing else. */
  agentId: string | null;
}

/** Those of the facts that a silence covers now, with its end. One look at the silences when the team has none. */
export async function selectSilenced(db: DbOrTx, teamId: string, facts: readonly Fact[], now: number): Promise<Map<string, number>> {
  const silenced = new Map<string, number>();
  if (facts.length === 0) return silenced;
  const silences = (await selectLastingSilences(db, teamId, now)).filter(({ from }) => from <= now);
  if (silences.length === 0) return silenced;
  const agents = [...new Set(facts.map(({ agentId }) => agentId).filter((id) => id !== null))];
  const behind = await selectBehind(db, teamId, agents);
  for (const { id, routerId, siteId, agentId } of facts) {
    const place = { routerId, siteId, ...(agentId === null ? {} : { behind: behind.get(agentId) ?? [] }) };
    const until = silencedUntil(silences, place, now);
    if (until !== null) silenced.set(id, until);
  }
  return silenced;
}

/** The routers of agents. */
async function selectBehind(db: DbOrTx, teamId: string, agentIds: readonly string[]) {
  const behind = new Map<string, { routerId: string; siteId: string | null }[]>();
  for (const chunk of inChunks(agentIds)) {
    const rows = await db
      .selectFrom('routers')
      .select(['id', 'site_id', 'agent_id'])
      .where('team_id', '=', teamId)
      .where('agent_id', 'in', chunk)
      .where('removed_at', 'is', null)
      .execute();
    for (const { id, site_id: siteId, agent_id: agentId } of rows)
      behind.set(agentId, [...(behind.get(agentId) ?? []), { routerId: id, siteId }]);
  }
  return behind;
}

/** False when the team has no such silence. */
export async function deleteSilence(db: DbOrTx, teamId: string, id: string): Promise<boolean> {
  const row = await db.deleteFrom('silences').where('team_id', '=', teamId).where('id', '=', id).returning('id').executeTakeFirst();
  return row !== undefined;
}

/** Deletes at most `limit` silences of all teams that ended before a time. @returns the number deleted */
export async function deleteSilencesBefore(db: DbOrTx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('silences')
    .where((eb) => eb('id', 'in', eb.selectFrom('silences as old').select('old.id').where('old.until_at', '<', before).limit(limit)))
    .executeTakeFirst();
  return Number(numDeletedRows);
}

export async function hasRecord(db: DbOrTx, table: 'routers' | 'sites', teamId: string, id: string): Promise<boolean> {
  const row = await db.selectFrom(table).select('id').where('team_id', '=', teamId).where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}
