import { sql } from 'kysely';
import type { RawBuilder, Selectable, SqlBool } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import { capabilities } from '../../platform/storage/capabilities.ts';
import type { DbOrTx, Storage, Tx } from '../../platform/storage/db.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { RevocationsTable } from '../../platform/storage/schema-revocations.ts';
import { KINDS, mergeReports, NOTHING, reportSchema } from './types.ts';
import type { Report, Revocation } from './types.ts';

/** The key, person, client or agent whose right was revoked. */
export type Subject = Pick<Revocation, 'teamId' | 'kind' | 'subjectId' | 'createdAt'>;

/**
 * A request that was accepted with the old password may store what it opens shortly after the new one is set, milliseconds. A sign-in
 * with the new password cannot open anything within this time.
 */
const LATE_MS = 1000;

const EMPTY: Report = {
  ended: { forwards: NOTHING, jobs: NOTHING, campaigns: NOTHING, terminals: NOTHING, api_keys: NOTHING },
  goes_on: { jobs: NOTHING, api_keys: NOTHING },
};

function toRevocation(row: Selectable<RevocationsTable>): Revocation {
  return {
    id: row.id,
    teamId: row.team_id,
    kind: KINDS.find((kind) => kind === row.kind) ?? 'api_key',
    subjectId: row.subject_id,
    createdAt: row.created_at,
    revokeKeys: row.revoke_keys === 1,
    passes: row.passes,
    dueAt: row.due_at,
    report: row.report === null ? EMPTY : reportSchema.parse(JSON.parse(row.report)),
  };
}

/** Revocations of all teams with passes to come, the next one due first. @param after the last one of the page before */
export async function selectOpen(db: DbOrTx, after: Revocation | undefined, limit: number): Promise<Revocation[]> {
  const rows = await db
    .selectFrom('revocations')
    .selectAll()
    .where('due_at', 'is not', null)
    .$if(after !== undefined, (query) => query.where(sql<SqlBool>`(due_at, id) > (${after!.dueAt}, ${after!.id})`))
    .orderBy('due_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toRevocation);
}

/**
 * Due revocations of the team, the longest due first.
 * @param horizon latest time that can have been scheduled; a later one means that the clock was set back
 */
export async function selectDue(db: DbOrTx, teamId: string, now: number, horizon: number, limit: number): Promise<Revocation[]> {
  const rows = await db
    .selectFrom('revocations')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('due_at', 'is not', null)
    .where((eb) => eb.or([eb('due_at', '<=', now), eb('due_at', '>', horizon)]))
    .orderBy('due_at')
    .limit(limit)
    .execute();
  return rows.map(toRevocation);
}

export async function selectRevocations(db: DbOrTx, teamId: string, page: Page): Promise<Revocation[]> {
  const rows = await db.selectFrom('revocations').selectAll().where('team_id', '=', teamId).$call(newestFirst(page)).execute();
  return rows.map(toRevocation);
}

/**
 * Stores a pass. Of several control planes two may have carried out the same one, and each has ended something: the later adds to the report.
 * @param before how many passes there were when it began
 */
export async function storePass(tx: Tx, engine: Storage['engine'], before: number, next: Revocation): Promise<void> {
  const { id, teamId } = next;
  const row = tx.selectFrom('revocations').selectAll().where('team_id', '=', teamId).where('id', '=', id);
  const found = await (capabilities[engine].singleWriter ? row : row.forUpdate()).executeTakeFirst();
  if (!found) return;
  const stored = toRevocation(found);
  const { passes, dueAt, report } = stored.passes === before ? next : { ...stored, report: mergeReports(stored.report, next.report) };
  await tx
    .updateTable('revocations')
    .set({ passes, due_at: dueAt, report: JSON.stringify(report) })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .execute();
}

/** Of all teams. @returns the number deleted, at most `limit` */
export async function deleteRevocations(db: DbOrTx, before: number, limit: number): Promise<number> {
  const old = await db
    .selectFrom('revocations')
    .select('id')
    .where('created_at', '<', before)
    .where('due_at', 'is', null)
    .limit(limit)
    .execute();
  if (old.length > 0)
    await db
      .deleteFrom('revocations')
      .where(
        'id',
        'in',
        old.map(({ id }) => id),
      )
      .execute();
  return old.length;
}

/** The current role of a key, person or client in the team; undefined for none. */
export async function selectRole(db: DbOrTx, { teamId, kind, subjectId }: Omit<Subject, 'createdAt'>): Promise<string | undefined> {
  const row =
    kind === 'api_key'
      ? await db
          .selectFrom('api_keys')
          .select('role')
          .where('team_id', '=', teamId)
          .where('id', '=', subjectId)
          .where('revoked_at', 'is', null)
          .executeTakeFirst()
      : kind === 'client'
        ? await db.selectFrom('clients').select('role').where('team_id', '=', teamId).where('id', '=', subjectId).executeTakeFirst()
        : await db
            .selectFrom('members')
            .select('role')
            .where('team_id', '=', teamId)
            .where('user_id', '=', subjectId)
            .where('active', '=', 1)
            .executeTakeFirst();
  return row?.role;
}

/** Records that a key or person created, or that were created through a client; for a new password, those created before it. */
function madeBy({ kind, subjectId, createdAt }: Subject): RawBuilder<SqlBool> {
  const made = sql<SqlBool>`${sql.ref(kind === 'client' ? 'created_via' : 'created_by')} = ${subjectId}`;
  return kind === 'password' ? sql<SqlBool>`${made} and created_at <= ${createdAt + LATE_MS}` : made;
}

export async function selectOpenForwards(db: DbOrTx, subject: Subject): Promise<{ id: string; router_id: string }[]> {
  return db
    .selectFrom('forwards')
    .select(['id', 'router_id'])
    .where('team_id', '=', subject.teamId)
    .where('closed_at', 'is', null)
    .where(madeBy(subject))
    .execute();
}

export async function selectOpenCampaigns(db: DbOrTx, subject: Subject): Promise<{ id: string }[]> {
  return db
    .selectFrom('campaigns')
    .select('id')
    .where('team_id', '=', subject.teamId)
    .where('finished_at', 'is', null)
    .where('state', 'in', ['running', 'paused'])
    .where(madeBy(subject))
    .execute();
}

/** Jobs that have not ended, ordered by id. The phases must match the condition of the index. */
export async function selectOpenJobs(
  db: DbOrTx,
  subject: Subject,
  afterId: string,
  limit: number,
): Promise<{ id: string; router_id: string; phase: string }[]> {
  return db
    .selectFrom('jobs')
    .select(['id', 'router_id', 'phase'])
    .where('team_id', '=', subject.teamId)
    .where(sql<SqlBool>`phase in ('queued', 'accepted', 'running')`)
    .where(madeBy(subject))
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Valid keys that a key or person created. */
export async function selectKeysMadeBy(db: DbOrTx, subject: Subject, now: number): Promise<{ id: string }[]> {
  return db
    .selectFrom('api_keys')
    .select('id')
    .where('team_id', '=', subject.teamId)
    .where(subject.kind === 'client' ? sql<SqlBool>`created_by = ${subject.subjectId}` : madeBy(subject))
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .execute();
}
