import { sql } from 'kysely';
import { AppError } from '../core/errors.ts';
import type { Db, Storage } from './db.ts';
import { openSecrets, readSecrets } from './secrets.ts';
import type { Secrets } from './secrets.ts';

/** Newest rows of each table whose key is checked: a file that decrypts these decrypts the rest, or was chosen by hand. */
const LOOKED_AT = 20;
/** The header of a JWE is its first part, under 150 characters here; a backup has megabytes behind it. */
const HEADER_CHARS = 400;

/**
 * Opens the secret key file for this database. Creates a new file only for a database without secrets: a new key with old
 * secrets would start normally and fail at the first sign-in.
 * @throws AppError `invalid` when the file is missing or belongs to another database; as {@link openSecrets} otherwise
 */
export async function openSecretsOf(storage: Storage, file: string): Promise<Secrets> {
  const needed = await keysInUse(storage.db);
  const secrets = await readSecrets(file);
  if (secrets === null) {
    if (needed.size === 0) return openSecrets(file);
    throw new AppError('invalid', `the secret key file ${file} is missing, and only it opens the secrets of this database; ${ADVICE}`);
  }
  const unknown = [...needed].filter((kid) => !secrets.knows(kid));
  if (unknown.length === 0) return secrets;
  throw new AppError('invalid', `${file} is not the secret key file of this database: it lacks the key ${unknown.join(', ')}; ${ADVICE}`);
}

const ADVICE = 'put it back from your backup, or see "A lost secret key" in docs/operations.md';

/** Ids of the keys with which stored secrets are encrypted. */
export async function keysInUse(db: Db): Promise<Set<string>> {
  const found = await Promise.all([
    db.selectFrom('provider_keys').select(headerOf('secret')).orderBy('created_at', 'desc').limit(LOOKED_AT).execute(),
    db.selectFrom('provider_records').select(headerOf('payload')).orderBy('expires_at', 'desc').limit(LOOKED_AT).execute(),
    db.selectFrom('webhook_secrets').select(headerOf('secret')).orderBy('id', 'desc').limit(LOOKED_AT).execute(),
    db.selectFrom('backup_parts').select(headerOf('content')).orderBy('backup_id', 'desc').limit(LOOKED_AT).execute(),
    db.selectFrom('terminal_recordings').select(headerOf('content')).orderBy('terminal_id', 'desc').limit(LOOKED_AT).execute(),
    db.selectFrom('contacts').select(headerOf('address')).orderBy('id', 'desc').limit(LOOKED_AT).execute(),
    db.selectFrom('notification_targets').select(headerOf('address')).orderBy('id', 'desc').limit(LOOKED_AT).execute(),
  ]);
  return new Set(
    found
      .flat()
      .map(({ start }) => keyIdOf(start))
      .filter((kid) => kid !== undefined),
  );
}

function headerOf(column: 'secret' | 'payload' | 'content' | 'address') {
  return sql<string>`substr(${sql.ref(column)}, 1, ${sql.lit(HEADER_CHARS)})`.as('start');
}

function keyIdOf(jwe: string): string | undefined {
  try {
    const { kid } = JSON.parse(Buffer.from(jwe.split('.')[0]!, 'base64url').toString('utf8')) as { kid?: unknown };
    return typeof kid === 'string' ? kid : undefined;
  } catch {
    // Damaged: reading the secret reports it.
    return undefined;
  }
}

/** What {@link forgetSecrets} deleted. */
export interface Forgotten {
  signingKeys: number;
  sessions: number;
  webhookSecrets: number;
  backups: number;
  recordings: number;
  targets: number;
  contacts: number;
}

/** Deletes everything that only a lost key can decrypt. Routers, agents, API keys, users and history stay. */
export async function forgetSecrets(storage: Storage, now: number): Promise<Forgotten> {
  return storage.writes.write(async (tx) => {
    const signingKeys = await tx.deleteFrom('provider_keys').executeTakeFirst();
    const sessions = await tx.deleteFrom('provider_records').executeTakeFirst();
    const webhookSecrets = await tx.deleteFrom('webhook_secrets').executeTakeFirst();
    const backups = await tx
      .updateTable('backups')
      .set({ state: 'lost', error: 'the secret key of the control plane was lost' })
      .where('state', '=', 'stored')
      .executeTakeFirst();
    await tx.deleteFrom('secret_keys').execute();
    await tx.deleteFrom('backup_parts').execute();
    const recordings = await tx
      .updateTable('terminals')
      .set({ recording_deleted_at: now })
      .where('recording_chunks', '>', 0)
      .where('recording_deleted_at', 'is', null)
      .executeTakeFirst();
    await tx.deleteFrom('terminal_recordings').execute();
    const targets = await tx.deleteFrom('notification_targets').executeTakeFirst();
    const contacts = await tx.deleteFrom('contacts').executeTakeFirst();
    return {
      signingKeys: Number(signingKeys.numDeletedRows),
      sessions: Number(sessions.numDeletedRows),
      webhookSecrets: Number(webhookSecrets.numDeletedRows),
      backups: Number(backups.numUpdatedRows),
      recordings: Number(recordings.numUpdatedRows),
      targets: Number(targets.numDeletedRows),
      contacts: Number(contacts.numDeletedRows),
    };
  });
}
