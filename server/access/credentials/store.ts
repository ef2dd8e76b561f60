import { type Selectable, sql } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import { readRole } from '../../platform/core/principal.ts';
import { inChunks } from '../../platform/storage/columns.ts';
import { countUpTo } from '../../platform/storage/count-up-to.ts';
import type { DbOrTx, Tx } from '../../platform/storage/db.ts';
import { padded } from '../../platform/storage/padded.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { EnrolTokensTable } from '../../platform/storage/schema-routers.ts';
import type { ApiKeysTable } from '../../platform/storage/schema-teams.ts';
import type { ApiKey, EnrolToken, ServiceToken } from './types.ts';

export { lockTeam } from '../../platform/storage/team-lock.ts';
export { insertRevocation } from '../../platform/storage/revocations.ts';

function toApiKey(row: Omit<Selectable<ApiKeysTable>, 'secret_hash'>): ApiKey {
  return {
    id: row.id,
    teamId: row.team_id,
    name: row.name,
    role: readRole(row.role),
    createdBy: row.created_by,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    replacedBy: row.replaced_by,
  };
}

export async function insertApiKey(db: DbOrTx, key: ApiKey, secretHash: string): Promise<void> {
  await db
    .insertInto('api_keys')
    .values({
      id: key.id,
      team_id: key.teamId,
      name: key.name,
      secret_hash: secretHash,
      role: key.role,
      created_by: key.createdBy,
      created_at: key.createdAt,
      last_used_at: null,
      expires_at: key.expiresAt,
      revoked_at: null,
    })
    .execute();
}

/** The key with this id in this team, with the hash of its secret. */
export async function selectApiKey(db: DbOrTx, teamId: string, keyId: string): Promise<StoredApiKey | undefined> {
  const row = await db.selectFrom('api_keys').selectAll().where('id', '=', keyId).where('team_id', '=', teamId).executeTakeFirst();
  return row && { key: toApiKey(row), secretHash: row.secret_hash };
}

/** A key, with the hash of its secret. */
export interface StoredApiKey {
  key: ApiKey;
  secretHash: string;
}

/** Each of these keys if its team has it. In their order. */
export async function selectApiKeysByIds(
  db: DbOrTx,
  wanted: readonly { teamId: string; tokenId: string }[],
): Promise<(StoredApiKey | undefined)[]> {
  const ids = new Set(wanted.map(({ tokenId }) => tokenId));
  const rows = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('id', 'in', padded([...ids]))
    .execute();
  const found = new Map(rows.map((row) => [`${row.team_id} ${row.id}`, { key: toApiKey(row), secretHash: row.secret_hash }]));
  return wanted.map(({ teamId, tokenId }) => found.get(`${teamId} ${tokenId}`));
}

/** Newest first, revoked ones included. */
export async function selectApiKeys(db: DbOrTx, teamId: string, page: Page): Promise<ApiKey[]> {
  const rows = await db.selectFrom('api_keys').selectAll().where('team_id', '=', teamId).$call(newestFirst(page)).execute();
  return rows.map(toApiKey);
}

/** Number of valid keys, counted up to `most`. */
export async function countLiveApiKeys(db: DbOrTx, teamId: string, now: number, most: number): Promise<number> {
  const keys = db
    .selectFrom('api_keys')
    .select('id')
    .where('team_id', '=', teamId)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]));
  return countUpTo(db, keys, most);
}

/** Lets a key expire at a given time and names its replacement. False when it was already rotated or revoked. */
export async function replaceApiKey(
  db: DbOrTx,
  replacement: { teamId: string; keyId: string; replacedBy: string; endsAt: number },
): Promise<boolean> {
  const row = await db
    .updateTable('api_keys')
    .set({ replaced_by: replacement.replacedBy, expires_at: replacement.endsAt })
    .where('team_id', '=', replacement.teamId)
    .where('id', '=', replacement.keyId)
    .where('replaced_by', 'is', null)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** For the server's administrator only, who names a key by its id alone. */
export async function selectTeamOfApiKey(db: DbOrTx, keyId: string): Promise<string | undefined> {
  const row = await db.selectFrom('api_keys').select('team_id').where('id', '=', keyId).executeTakeFirst();
  return row?.team_id;
}

/** False when the team has no such key. A key that is already revoked keeps its revocation time. */
export async function revokeApiKey(db: DbOrTx, teamId: string, keyId: string, now: number): Promise<boolean> {
  const row = await db
    .updateTable('api_keys')
    .set((eb) => ({ revoked_at: eb.fn.coalesce('revoked_at', eb.val(now)) }))
    .where('id', '=', keyId)
    .where('team_id', '=', teamId)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Sets `last_used_at` of many keys in statements of 500. Never sets an earlier time: another node may have seen a later use. */
export async function updateLastUsed(db: DbOrTx, uses: readonly (readonly [keyId: string, at: number])[]): Promise<void> {
  for (const chunk of inChunks(uses)) {
    const values = sql.join(chunk.map(([keyId, at]) => sql`(cast(${keyId} as text), cast(${at} as bigint))`));
    // In both databases the columns of a bare VALUES are named column1 and column2.
    await sql`
      update api_keys set last_used_at = used.column2 from (values ${values}) as used
      where api_keys.id = used.column1 and coalesce(api_keys.last_used_at, 0) < used.column2`.execute(db);
  }
}

export async function insertServiceToken(db: DbOrTx, token: ServiceToken, secretHash: string): Promise<void> {
  await db
    .insertInto('service_tokens')
    .values({ id: token.id, name: token.name, secret_hash: secretHash, created_at: token.createdAt, revoked_at: null })
    .execute();
}

export async function selectLiveServiceToken(db: DbOrTx, secretHash: string): Promise<ServiceToken | undefined> {
  const row = await db
    .selectFrom('service_tokens')
    .selectAll()
    .where('secret_hash', '=', secretHash)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row && { id: row.id, name: row.name, createdAt: row.created_at };
}

export async function revokeServiceToken(db: DbOrTx, id: string, now: number): Promise<boolean> {
  const row = await db
    .updateTable('service_tokens')
    .set((eb) => ({ revoked_at: eb.fn.coalesce('revoked_at', eb.val(now)) }))
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

function toEnrolToken(row: Omit<Selectable<EnrolTokensTable>, 'secret_hash'>): EnrolToken {
  return {
    id: row.id,
    teamId: row.team_id,
    siteId: row.site_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    usedAt: row.used_at,
    revokedAt: row.revoked_at,
    agentId: row.agent_id,
    replacesAgentId: row.replaces_agent_id,
  };
}

/** False when the site does not belong to the team. */
export async function insertEnrolToken(db: DbOrTx, token: EnrolToken, secretHash: string): Promise<boolean> {
  if (token.siteId !== null && !(await hasSite(db, token.teamId, token.siteId))) return false;
  await db
    .insertInto('enrol_tokens')
    .values({
      id: token.id,
      team_id: token.teamId,
      site_id: token.siteId,
      secret_hash: secretHash,
      created_at: token.createdAt,
      expires_at: token.expiresAt,
      used_at: null,
      revoked_at: null,
      agent_id: null,
      replaces_agent_id: token.replacesAgentId,
    })
    .execute();
  return true;
}

/** Number of usable tokens created since a given time, counted up to `most`. */
export async function countOpenEnrolTokens(
  db: DbOrTx,
  teamId: string,
  { now, since, most }: { now: number; since: number; most: number },
): Promise<number> {
  const tokens = db
    .selectFrom('enrol_tokens')
    .select('id')
    .where('team_id', '=', teamId)
    .where('created_at', '>=', since)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now);
  return countUpTo(db, tokens, most);
}

async function hasSite(db: DbOrTx, teamId: string, siteId: string): Promise<boolean> {
  const row = await db.selectFrom('sites').select('id').where('team_id', '=', teamId).where('id', '=', siteId).executeTakeFirst();
  return row !== undefined;
}

export async function selectEnrolTokens(db: DbOrTx, teamId: string, page: Page): Promise<EnrolToken[]> {
  const rows = await db.selectFrom('enrol_tokens').selectAll().where('team_id', '=', teamId).$call(newestFirst(page)).execute();
  return rows.map(toEnrolToken);
}

/** Consumes a token in one statement: of two concurrent attempts exactly one succeeds. */
export async function claimEnrolToken(
  tx: Tx,
  claim: { secretHash: string; agentId: string; now: number },
): Promise<EnrolToken | undefined> {
  const row = await tx
    .updateTable('enrol_tokens')
    .set((eb) => ({ used_at: claim.now, agent_id: eb.fn.coalesce('replaces_agent_id', eb.val(claim.agentId)) }))
    .where('secret_hash', '=', claim.secretHash)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', claim.now)
    .returningAll()
    .executeTakeFirst();
  return row && toEnrolToken(row);
}

/** Whatever its status. */
export async function selectEnrolTokenBySecret(db: DbOrTx, secretHash: string): Promise<EnrolToken | undefined> {
  const row = await db.selectFrom('enrol_tokens').selectAll().where('secret_hash', '=', secretHash).executeTakeFirst();
  return row && toEnrolToken(row);
}

export async function selectEnrolToken(db: DbOrTx, teamId: string, tokenId: string): Promise<EnrolToken | undefined> {
  const row = await db.selectFrom('enrol_tokens').selectAll().where('team_id', '=', teamId).where('id', '=', tokenId).executeTakeFirst();
  return row && toEnrolToken(row);
}

/** For the server's administrator only, who names a token by its id alone. */
export async function selectTeamOfEnrolToken(db: DbOrTx, tokenId: string): Promise<string | undefined> {
  const row = await db.selectFrom('enrol_tokens').select('team_id').where('id', '=', tokenId).executeTakeFirst();
  return row?.team_id;
}

/** Revokes every unused token that was created to replace this agent. */
export async function revokeReplacementTokens(tx: Tx, teamId: string, agentId: string, now: number): Promise<void> {
  await tx
    .updateTable('enrol_tokens')
    .set({ revoked_at: now })
    .where('team_id', '=', teamId)
    .where('replaces_agent_id', '=', agentId)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .execute();
}

/** False when the team has no such unused token. A token that is already revoked keeps its revocation time. */
export async function revokeEnrolToken(db: DbOrTx, teamId: string, tokenId: string, now: number): Promise<boolean> {
  const row = await db
    .updateTable('enrol_tokens')
    .set((eb) => ({ revoked_at: eb.fn.coalesce('revoked_at', eb.val(now)) }))
    .where('id', '=', tokenId)
    .where('team_id', '=', teamId)
    .where('used_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}
