import type { Selectable } from 'kysely';
import { readRole } from '../../../platform/core/principal.ts';
import { fromFlag, fromJson, inChunks, toJson } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { ContactsTable, NotificationOptoutsTable } from '../../../platform/storage/schema-notifications.ts';
import type { UsersTable } from '../../../platform/storage/schema-teams.ts';
import { DIGEST_PERIODS } from './types.ts';
import type { Contact, ContactChannel, DigestSettings, Optout, OptoutScope, Person, PersonSettings } from './types.ts';

export { isUnique } from '../../../platform/storage/storage-errors.ts';

/** What is asked of the account of a person. */
type Account = Pick<
  Selectable<UsersTable>,
  | 'id'
  | 'email'
  | 'created_at'
  | 'email_verified_at'
  | 'email_off_reason'
  | 'email_off_at'
  | 'locale'
  | 'time_zone'
  | 'quiet_from'
  | 'quiet_to'
  | 'quiet_critical'
  | 'default_channel'
  | 'digest'
  | 'digest_at'
  | 'digest_kinds'
>;

const ACCOUNT = [
  'id',
  'email',
  'created_at',
  'email_verified_at',
  'email_off_reason',
  'email_off_at',
  'locale',
  'time_zone',
  'quiet_from',
  'quiet_to',
  'quiet_critical',
  'default_channel',
  'digest',
  'digest_at',
  'digest_kinds',
] as const;

/** Makes contacts of accounts comparable with the others. */
export interface EmailView {
  keyOf: (email: string) => string;
  show: (email: string) => string;
}

/** Active members of the team, by id. */
export async function selectPeople(db: DbOrTx, teamId: string, userIds: readonly string[], view: EmailView): Promise<Map<string, Person>> {
  const people = new Map<string, Person>();
  for (const ids of inChunks([...new Set(userIds)])) {
    const accounts = await db
      .selectFrom('users')
      .innerJoin('members', 'members.user_id', 'users.id')
      .select(ACCOUNT.map((column) => `users.${column}` as const))
      .select('members.role')
      .where('members.team_id', '=', teamId)
      .where('members.active', '=', 1)
      .where('users.id', 'in', ids)
      .execute();
    if (accounts.length === 0) continue;
    const found = accounts.map(({ id }) => id);
    const contacts = await db.selectFrom('contacts').selectAll().where('user_id', 'in', found).orderBy('id').execute();
    const optouts = await db
      .selectFrom('notification_optouts')
      .selectAll()
      .where('team_id', '=', teamId)
      .where('user_id', 'in', found)
      .orderBy('id')
      .execute();
    for (const account of accounts) people.set(account.id, toPerson(account, contacts, optouts, view));
  }
  return people;
}

function toPerson(
  account: Account & { role: string },
  contacts: readonly Selectable<ContactsTable>[],
  optouts: readonly Selectable<NotificationOptoutsTable>[],
  view: EmailView,
): Person {
  return {
    id: account.id,
    role: readRole(account.role),
    settings: toSettings(account),
    // What a person has entered goes before the email of the account.
    contacts: [...contacts.filter(({ user_id: id }) => id === account.id).map(toContact), contactOf(account, view)],
    optouts: optouts.filter(({ user_id: id }) => id === account.id).map(toOptout),
  };
}

function toSettings(row: Account): PersonSettings {
  const { quiet_from: from, quiet_to: to } = row;
  return {
    locale: row.locale,
    timeZone: row.time_zone,
    quiet: from === null || to === null ? null : { from, to, criticalBreaksThrough: fromFlag(row.quiet_critical) },
    defaultChannel: row.default_channel as ContactChannel | null,
    digest: {
      every: DIGEST_PERIODS.find((period) => period === row.digest) ?? null,
      at: row.digest_at,
      kinds: fromJson(row.digest_kinds) as string[],
    },
  };
}

function contactOf(row: Account, { keyOf, show }: EmailView): Contact {
  return {
    id: row.id,
    userId: row.id,
    channel: 'email',
    addressKey: keyOf(row.email),
    bucket: 'email',
    shown: show(row.email),
    verifiedAt: row.email_verified_at,
    offReason: row.email_off_reason as Contact['offReason'],
    offAt: row.email_off_at,
    createdAt: row.created_at,
    sealed: null,
    email: row.email,
  };
}

function toContact(row: Selectable<ContactsTable>): Contact {
  return {
    id: row.id,
    userId: row.user_id,
    channel: row.channel as ContactChannel,
    addressKey: row.address_key,
    bucket: row.bucket,
    shown: row.shown,
    verifiedAt: row.verified_at,
    offReason: row.off_reason as Contact['offReason'],
    offAt: row.off_at,
    createdAt: row.created_at,
    sealed: row.address,
    email: null,
  };
}

function toOptout(row: Selectable<NotificationOptoutsTable>): Optout {
  return { id: row.id, scope: row.scope as OptoutScope, scopeId: row.scope_id, at: row.at };
}

/** Locks the person's addresses against other changes, so that their number stays true until the transaction ends. */
export async function lockPerson(db: DbOrTx, userId: string): Promise<void> {
  await db
    .updateTable('users')
    .set((eb) => ({ email: eb.ref('email') }))
    .where('id', '=', userId)
    .execute();
}

/** @throws a unique violation when the person has this address already */
export async function insertContact(db: DbOrTx, contact: Contact & { sealed: string }): Promise<void> {
  await db
    .insertInto('contacts')
    .values({
      id: contact.id,
      user_id: contact.userId,
      channel: contact.channel,
      address: contact.sealed,
      address_key: contact.addressKey,
      bucket: contact.bucket,
      shown: contact.shown,
      verified_at: contact.verifiedAt,
      off_reason: contact.offReason,
      off_at: contact.offAt,
      created_at: contact.createdAt,
      updated_at: contact.createdAt,
    })
    .execute();
}

/** False when the person has no such contact. */
export async function deleteContact(db: DbOrTx, userId: string, id: string): Promise<boolean> {
  const row = await db.deleteFrom('contacts').where('user_id', '=', userId).where('id', '=', id).returning('id').executeTakeFirst();
  return row !== undefined;
}

interface State {
  /** Undefined: unchanged. */
  verifiedAt?: number;
  offReason: Contact['offReason'];
  now: number;
}

/** Of a contact or, with the id of the person, of the email of the account. False when it is gone. */
export async function setContactState(db: DbOrTx, { userId, id }: { userId: string; id: string }, state: State): Promise<boolean> {
  const { verifiedAt, offReason, now } = state;
  const offAt = offReason === null ? null : now;
  if (id === userId) {
    const row = await db
      .updateTable('users')
      .set({ email_off_reason: offReason, email_off_at: offAt, ...(verifiedAt === undefined ? {} : { email_verified_at: verifiedAt }) })
      .where('id', '=', userId)
      .returning('id')
      .executeTakeFirst();
    return row !== undefined;
  }
  const row = await db
    .updateTable('contacts')
    .set({ off_reason: offReason, off_at: offAt, updated_at: now, ...(verifiedAt === undefined ? {} : { verified_at: verifiedAt }) })
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether a receiver may switch it off: it was proved at that time, and is on. */
export async function isContactOn(db: DbOrTx, { userId, id }: { userId: string; id: string }, at: number): Promise<boolean> {
  const row =
    id === userId
      ? await db
          .selectFrom('users')
          .select(['email_verified_at as verified', 'email_off_reason as off'])
          .where('id', '=', userId)
          .executeTakeFirst()
      : await db
          .selectFrom('contacts')
          .select(['verified_at as verified', 'off_reason as off'])
          .where('user_id', '=', userId)
          .where('id', '=', id)
          .executeTakeFirst();
  return row !== undefined && row.verified !== null && row.verified <= at && row.off === null;
}

/** The receiver itself has a new address: it stays proved. @throws a unique violation when the person has that address already */
export async function moveContact(
  db: DbOrTx,
  contact: Pick<Contact, 'id' | 'userId' | 'addressKey' | 'bucket' | 'shown'> & { sealed: string },
  now: number,
): Promise<void> {
  await db
    .updateTable('contacts')
    .set({ address: contact.sealed, address_key: contact.addressKey, bucket: contact.bucket, shown: contact.shown, updated_at: now })
    .where('user_id', '=', contact.userId)
    .where('id', '=', contact.id)
    .execute();
}

export interface SettingsChange {
  locale?: string | null | undefined;
  timeZone?: string | null | undefined;
  quiet?: PersonSettings['quiet'] | undefined;
  defaultChannel?: ContactChannel | null | undefined;
  digest?: { [K in keyof DigestSettings]?: DigestSettings[K] | undefined } | undefined;
}

export async function updateSettings(db: DbOrTx, userId: string, change: SettingsChange): Promise<void> {
  const { locale, timeZone, quiet, defaultChannel, digest = {} } = change;
  const set = {
    ...(locale === undefined ? {} : { locale }),
    ...(timeZone === undefined ? {} : { time_zone: timeZone }),
    ...(quiet === undefined ? {} : { quiet_from: quiet?.from ?? null, quiet_to: quiet?.to ?? null }),
    ...(quiet ? { quiet_critical: quiet.criticalBreaksThrough ? (1 as const) : (0 as const) } : {}),
    ...(defaultChannel === undefined ? {} : { default_channel: defaultChannel }),
    ...(digest.every === undefined ? {} : { digest: digest.every }),
    ...(digest.at === undefined ? {} : { digest_at: digest.at }),
    ...(digest.kinds === undefined ? {} : { digest_kinds: toJson(digest.kinds) }),
  };
  if (Object.keys(set).length > 0) await db.updateTable('users').set(set).where('id', '=', userId).execute();
}

/** What waits for the digest of a person, in all teams, waits for another time. */
export async function moveDigest(db: DbOrTx, userId: string, to: number): Promise<void> {
  await db
    .updateTable('messages')
    .set({ digest_at: to })
    .where('recipient_id', '=', userId)
    .where('recipient_type', '=', 'person')
    .where('digest_at', 'is not', null)
    .execute();
}

/** Nothing happens when it is there already, or the person is no member any more. */
export async function insertOptout(db: DbOrTx, { teamId, userId, ...optout }: Optout & { teamId: string; userId: string }): Promise<void> {
  await db
    .insertInto('notification_optouts')
    .columns(['id', 'team_id', 'user_id', 'scope', 'scope_id', 'at'])
    .expression((eb) =>
      eb
        .selectFrom('members')
        .select((e) => [
          e.val(optout.id).as('id'),
          'team_id',
          'user_id',
          e.val(optout.scope).as('scope'),
          e.val(optout.scopeId).as('scope_id'),
          e.val(optout.at).as('at'),
        ])
        .where('team_id', '=', teamId)
        .where('user_id', '=', userId),
    )
    .onConflict((conflict) => conflict.columns(['team_id', 'user_id', 'scope', 'scope_id']).doNothing())
    .execute();
}

/** False when the person has not switched this off. */
export async function deleteOptout(db: DbOrTx, { teamId, userId, id }: { teamId: string; userId: string; id: string }): Promise<boolean> {
  const row = await db
    .deleteFrom('notification_optouts')
    .where('team_id', '=', teamId)
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Names of the person's email and the team, for the pages behind links. */
export async function selectNames(
  db: DbOrTx,
  { teamId, userId, groupId }: { teamId: string; userId: string; groupId?: string | undefined },
): Promise<{ email: string; team: string; group: string | null } | undefined> {
  const row = await db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .innerJoin('teams', 'teams.id', 'members.team_id')
    .leftJoin('notification_groups', (join) =>
      join.onRef('notification_groups.team_id', '=', 'members.team_id').on('notification_groups.id', '=', groupId ?? ''),
    )
    .select(['users.email', 'teams.name as team', 'notification_groups.name as group'])
    .where('members.team_id', '=', teamId)
    .where('members.user_id', '=', userId)
    .executeTakeFirst();
  return row;
}
