import type { Selectable } from 'kysely';
import type { Page } from '../../../platform/core/page.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import type { NotificationTargetsTable } from '../../../platform/storage/schema-notifications.ts';
import type { StoredTarget, TargetChannel } from './types.ts';

export { lockTeam } from '../../../platform/storage/team-lock.ts';

export { isUnique } from '../../../platform/storage/storage-errors.ts';

function toTarget(row: Selectable<NotificationTargetsTable>): StoredTarget {
  return {
    id: row.id,
    teamId: row.team_id,
    name: row.name,
    channel: row.channel as TargetChannel,
    address: row.address,
    addressKey: row.address_key,
    bucket: row.bucket,
    shown: row.shown,
    verifiedAt: row.verified_at,
    offReason: row.off_reason,
    offAt: row.off_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** @throws a unique violation when another target of the team has this name */
export async function insertTarget(db: DbOrTx, target: StoredTarget): Promise<void> {
  await db
    .insertInto('notification_targets')
    .values({
      id: target.id,
      team_id: target.teamId,
      name: target.name,
      channel: target.channel,
      address: target.address,
      address_key: target.addressKey,
      bucket: target.bucket,
      shown: target.shown,
      verified_at: target.verifiedAt,
      off_reason: target.offReason,
      off_at: target.offAt,
      created_at: target.createdAt,
      updated_at: target.updatedAt,
    })
    .execute();
}

export async function selectTarget(db: DbOrTx, teamId: string, targetId: string): Promise<StoredTarget | undefined> {
  const row = await db
    .selectFrom('notification_targets')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('id', '=', targetId)
    .executeTakeFirst();
  return row && toTarget(row);
}

/** Newest first. */
export async function selectTargets(db: DbOrTx, teamId: string, page: Page): Promise<StoredTarget[]> {
  const rows = await db.selectFrom('notification_targets').selectAll().where('team_id', '=', teamId).$call(newestFirst(page)).execute();
  return rows.map(toTarget);
}

export async function selectTargetsById(db: DbOrTx, teamId: string, ids: readonly string[]): Promise<StoredTarget[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('notification_targets')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('id', 'in', [...new Set(ids)])
    .execute();
  return rows.map(toTarget);
}

export async function countTargets(db: DbOrTx, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('notification_targets')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .executeTakeFirstOrThrow();
  return count;
}

interface Key {
  teamId: string;
  id: string;
}

/** A new address is not proved, and not switched off. */
interface StoredChange {
  name?: string | undefined;
  address?: Pick<StoredTarget, 'address' | 'addressKey' | 'bucket' | 'shown'> | undefined;
  updatedAt: number;
}

/** Undefined when the team has no such target. @throws a unique violation like {@link insertTarget} */
export async function updateTarget(db: DbOrTx, { teamId, id }: Key, change: StoredChange): Promise<StoredTarget | undefined> {
  const { name, address } = change;
  const row = await db
    .updateTable('notification_targets')
    .set({
      ...(name === undefined ? {} : { name }),
      ...(address && {
        address: address.address,
        address_key: address.addressKey,
        bucket: address.bucket,
        shown: address.shown,
        verified_at: null,
        off_reason: null,
        off_at: null,
      }),
      updated_at: change.updatedAt,
    })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && toTarget(row);
}

/** Also switches it on again. False when the target is gone or has another address by now. */
export async function setTargetProved(db: DbOrTx, { teamId, id }: Key, addressKey: string, now: number): Promise<boolean> {
  const row = await db
    .updateTable('notification_targets')
    .set({ verified_at: now, off_reason: null, off_at: null, updated_at: now })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .where('address_key', '=', addressKey)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** A receiver has said that nothing arrives there any more. False when it is off already, was never proved, or is gone. */
export async function setTargetOff(db: DbOrTx, { teamId, id }: Key, reason: string, now: number): Promise<boolean> {
  const row = await db
    .updateTable('notification_targets')
    .set({ off_reason: reason, off_at: now, updated_at: now })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .where('verified_at', 'is not', null)
    .where('off_reason', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** The receiver itself has a new address: it stays proved. False when the target has another address by now. */
export async function moveTarget(
  db: DbOrTx,
  { teamId, id }: Key,
  from: string,
  to: NonNullable<StoredChange['address']>,
  now: number,
): Promise<boolean> {
  const row = await db
    .updateTable('notification_targets')
    .set({ address: to.address, address_key: to.addressKey, bucket: to.bucket, shown: to.shown, updated_at: now })
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .where('address_key', '=', from)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** False when the team has no such target. */
export async function deleteTarget(db: DbOrTx, { teamId, id }: Key): Promise<boolean> {
  const row = await db
    .deleteFrom('notification_targets')
    .where('team_id', '=', teamId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** What a message that asks for a proof says about who sends it: the person's address, or the key's name. */
export async function selectActorName(db: DbOrTx, teamId: string, actor: { kind: 'user' | 'api_key'; id: string }): Promise<string> {
  if (actor.kind === 'user') {
    const row = await db
      .selectFrom('users')
      .innerJoin('members', 'members.user_id', 'users.id')
      .select('users.email')
      .where('members.team_id', '=', teamId)
      .where('users.id', '=', actor.id)
      .executeTakeFirst();
    return row?.email ?? '';
  }
  const row = await db.selectFrom('api_keys').select('name').where('team_id', '=', teamId).where('id', '=', actor.id).executeTakeFirst();
  return row?.name ?? '';
}

export async function selectTeamName(db: DbOrTx, teamId: string): Promise<string> {
  const row = await db.selectFrom('teams').select('name').where('id', '=', teamId).executeTakeFirst();
  return row?.name ?? '';
}
