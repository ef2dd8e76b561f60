import type { Clock } from '../../../platform/core/clock.ts';
import { AppError, notFound } from '../../../platform/core/errors.ts';
import { hashSecret, newSecret } from '../../../platform/core/ids.ts';
import type { DbOrTx, Storage } from '../../../platform/storage/db.ts';
import { insertPasswordRevocations, lockAccount, selectAccount, updatePassword } from '../accounts/store.ts';
import type { Grantor } from '../grantors/types.ts';
import { hashPassword, refuseSamePassword } from '../passwords.ts';
import { selectMember, selectMemberships } from '../store.ts';
import type { Member } from '../types.ts';
import { deleteExpiredPasswordLinks, deletePasswordLink, putPasswordLink, selectPasswordLink } from './store.ts';
import type { PasswordLink } from './store.ts';

export type { PasswordLink } from './store.ts';

/** A day: a person who has lost the password waits for the link. */
const LIFE_MS = 24 * 3600 * 1000;
/** The length of an invitation code: 238 bits. */
const CODE_LENGTH = 40;

/**
 * Links with which people who have lost their password set a new one. Administrators create them only for accounts
 * that are in no other team and do not administer the installation, because the holder of the link controls the account.
 */
export class PasswordLinksService {
  readonly #storage: Storage;
  readonly #clock: Clock;

  constructor({ storage, clock }: { storage: Storage; clock: Clock }) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /**
   * Replaces an earlier link of the person. The old password stays valid until the link is used.
   * @returns the code for the link, which cannot be read again
   * @throws AppError `not_found`; `conflict` for a person who is also in another team, or administers the installation
   */
  async create(teamId: string, userId: string, issuer: Grantor): Promise<{ member: Member; code: string; expiresAt: number }> {
    const code = newSecret(CODE_LENGTH);
    const now = this.#clock.now();
    const expiresAt = now + LIFE_MS;
    const member = await this.#storage.writes.write(async (tx) => {
      await lockAccount(tx, userId);
      const found = await selectMember(tx, teamId, userId);
      if (!found) throw notFound('member');
      if (!(await isOnlyIn(tx, teamId, userId))) throw operatorOnly('also belongs to another team');
      if ((await selectAccount(tx, { id: userId }))!.isInstallationAdmin) throw operatorOnly('administers the installation');
      await putPasswordLink(tx, { userId, teamId, issuer, codeHash: hashSecret(code), createdAt: now, expiresAt });
      return found;
    });
    return { member, code, expiresAt };
  }

  /** Undefined for every invalid code, whatever the reason. */
  async findOpen(code: string): Promise<PasswordLink | undefined> {
    return this.#select(this.#storage.db, code);
  }

  /**
   * Sets the password that the holder of the link has chosen, ends every session of the person and everything opened in them.
   * @throws AppError `invalid` for an unfit password; `conflict` for a link that is no longer valid
   */
  async use(code: string, password: string): Promise<PasswordLink> {
    const gone = (): AppError => new AppError('conflict', 'This link is no longer valid.');
    const link = await this.findOpen(code);
    if (!link) throw gone();
    const account = await selectAccount(this.#storage.db, { id: link.userId });
    await refuseSamePassword(password, account?.passwordHash ?? null);
    const passwordHash = await hashPassword({ password, email: link.email });
    await this.#storage.writes.write(async (tx) => {
      await lockAccount(tx, link.userId);
      // The person may have joined another team since, or somebody else may have used the link.
      if (!(await this.#select(tx, code))) throw gone();
      const now = this.#clock.now();
      await updatePassword(tx, { userId: link.userId, passwordHash, now });
      await insertPasswordRevocations(tx, link.userId, now);
      await deletePasswordLink(tx, link.userId);
    });
    return link;
  }

  /** Deletes expired links. */
  async sweep(): Promise<void> {
    await deleteExpiredPasswordLinks(this.#storage, this.#clock.now());
  }

  async #select(db: DbOrTx, code: string): Promise<PasswordLink | undefined> {
    const now = this.#clock.now();
    const link = await selectPasswordLink(db, hashSecret(code), now);
    if (!link || link.expiresAt <= now || link.issuer.role !== 'admin' || link.isOfInstallationAdmin) return undefined;
    return (await isOnlyIn(db, link.teamId, link.userId)) ? link : undefined;
  }
}

/** Inactive memberships count too: they may be reactivated. */
async function isOnlyIn(db: DbOrTx, teamId: string, userId: string): Promise<boolean> {
  const memberships = await selectMemberships(db, userId);
  return memberships.length === 1 && memberships[0]!.teamId === teamId;
}

function operatorOnly(why: string): AppError {
  return new AppError('conflict', `the member ${why}; only the server's operator can do this (signalbox user password)`);
}
