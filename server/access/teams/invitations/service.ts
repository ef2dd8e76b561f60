import type { Clock } from '../../../platform/core/clock.ts';
import type { Counters } from '../../../platform/core/counters.ts';
import { AppError, notFound } from '../../../platform/core/errors.ts';
import { hashSecret, newId, newSecret } from '../../../platform/core/ids.ts';
import { Listeners } from '../../../platform/core/listeners.ts';
import { FIRST_PAGE } from '../../../platform/core/page.ts';
import type { Page } from '../../../platform/core/page.ts';
import { checkQuota, QUOTAS } from '../../../platform/core/quotas.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import { insertAccount, selectAccount, updatePassword } from '../accounts/store.ts';
import type { Account } from '../accounts/store.ts';
import { checkEmail, normalizeEmail } from '../checks.ts';
import { deletePasswordLink } from '../password-links/store.ts';
import { hashPassword, passwordMatches, refuseSamePassword } from '../passwords.ts';
import { countMembers, insertMember, selectMemberByEmail } from '../store.ts';
import type { Member } from '../types.ts';
import {
  closeInvitation,
  countOpenInvitations,
  deleteOldInvitations,
  deleteOpenInvitation,
  insertInvitation,
  lockTeam,
  selectInvitation,
  selectInvitationByCode,
  selectInvitationById,
  selectInvitations,
} from './store.ts';
import { stateOf } from './types.ts';
import type { Invitation, InvitationState, NewInvitation, Proof } from './types.ts';

const DAY_MS = 24 * 3600 * 1000;
/** A week: long enough for a person to answer, short for a link in a mailbox. */
const LIFE_MS = 7 * DAY_MS;
/** A list that an administrator can still read; one key cannot fill the table. */
const MAX_OPEN = 200;
/** 238 bits; half the length of an API key, because people may have to read it out. */
const CODE_LENGTH = 40;
/** How long an expired invitation stays in the list. The audit log keeps its entry for longer. */
const KEPT_MS = 30 * DAY_MS;
/** Rows per statement. */
const CHUNK = 500;

/**
 * How people join teams. An administrator invites; only the invited person creates the membership, with the code of the
 * invitation, a proof that the account is theirs, and a password that nobody else can know.
 */
export class InvitationsService {
  /** A person has accepted. Covers this process only. */
  readonly accepted = new Listeners<Member>();
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #counters: Counters | undefined;

  constructor({ storage, clock, counters }: { storage: Storage; clock: Clock; counters?: Counters | undefined }) {
    this.#storage = storage;
    this.#clock = clock;
    this.#counters = counters;
  }

  /**
   * Replaces the open invitation of the same person. The caller checks that the inviter has the role.
   * @returns the code for the link, which cannot be read again
   * @throws AppError `invalid` for a bad address; `conflict` for a member of this team, or too many open invitations
   */
  async create({ teamId, email: given, role, inviter }: NewInvitation): Promise<{ invitation: Invitation; code: string }> {
    const email = checkEmail(given);
    const now = this.#clock.now();
    const [id, code] = [newId(now), newSecret(CODE_LENGTH)];
    const invitation = await this.#storage.writes.write(async (tx) => {
      await lockTeam(tx, teamId);
      if (await selectMemberByEmail(tx, teamId, email)) throw isMember(email);
      await deleteOpenInvitation(tx, teamId, email);
      if ((await countOpenInvitations(tx, teamId, now)) >= MAX_OPEN)
        throw new AppError('conflict', `a team has at most ${MAX_OPEN} open invitations`);
      await insertInvitation(tx, {
        id,
        teamId,
        email,
        role,
        inviter,
        codeHash: hashSecret(code),
        createdAt: now,
        expiresAt: now + LIFE_MS,
      });
      return selectInvitation(tx, teamId, id, now);
    });
    return { invitation: invitation!, code };
  }

  async list(teamId: string, page: Page = FIRST_PAGE): Promise<Invitation[]> {
    return selectInvitations(this.#storage.db, teamId, page, this.#clock.now());
  }

  stateOf(invitation: Invitation): InvitationState {
    return stateOf(invitation, this.#clock.now());
  }

  /** @throws AppError `not_found`; `conflict` for an invitation that was answered or withdrawn */
  async withdraw(teamId: string, id: string): Promise<Invitation> {
    const invitation = await selectInvitation(this.#storage.db, teamId, id, this.#clock.now());
    if (!invitation) throw notFound('invitation');
    const isClosed = await this.#storage.writes.write((tx) => closeInvitation(tx, invitation, 'withdrawn'));
    if (!isClosed) throw new AppError('conflict', 'the invitation is no longer open');
    return invitation;
  }

  /** Undefined for every invalid code, whatever the reason. */
  async findOpen(code: string): Promise<Invitation | undefined> {
    return this.#ifOpen(await selectInvitationByCode(this.#storage.db, hashSecret(code), this.#clock.now()));
  }

  /** For a browser that has presented the code before. */
  async findOpenById(id: string): Promise<Invitation | undefined> {
    return this.#ifOpen(await selectInvitationById(this.#storage.db, id, this.#clock.now()));
  }

  /** False when it is no longer open. */
  async decline(invitation: Invitation): Promise<boolean> {
    return this.#storage.writes.write((tx) => closeInvitation(tx, invitation, 'declined'));
  }

  /**
   * Accepts the invitation. Ends every other session of the person and invalidates their old password: an administrator of
   * another team may know it, because they created the account.
   * @throws AppError `invalid` for a wrong password or an unfit new one; `forbidden` for another person's proof;
   *   `conflict` for an invitation that is not open, or an account that has changed meanwhile; `quota_exceeded`
   */
  async accept(invitation: Invitation, proof: Proof): Promise<Member> {
    const account = await selectAccount(this.#storage.db, { email: invitation.email });
    await checkProof(invitation, account, proof);
    const passwordHash = proof.by === 'provider' ? null : await hashPassword({ password: proof.next, email: invitation.email });
    const now = this.#clock.now();
    const userId = account?.id ?? newId(now);
    const { teamId, email, role } = invitation;
    await this.#storage.writes.write(async (tx) => {
      await lockTeam(tx, teamId);
      await this.#close(tx, invitation, now);
      const insteadOf = account && proof.by === 'password' ? { insteadOf: account.passwordHash } : {};
      const isDone = account
        ? await updatePassword(tx, { userId, passwordHash, now, ...insteadOf })
        : await insertAccount(tx, { id: userId, email, passwordHash, createdAt: now });
      if (!isDone) throw new AppError('conflict', 'Your account has just been changed. Try again.');
      checkQuota(this.#counters, 'members_per_team', await countMembers(tx, teamId, QUOTAS.members_per_team.most));
      if (!(await insertMember(tx, { teamId, userId, role, createdAt: now }))) throw isMember(email);
      await deletePasswordLink(tx, userId);
    });
    const member = { userId, teamId, email, role, active: true, createdAt: now };
    this.accepted.publish(member);
    return member;
  }

  /** Deletes old invitations. */
  async sweep(): Promise<void> {
    while ((await deleteOldInvitations(this.#storage, this.#clock.now() - KEPT_MS, CHUNK)) === CHUNK);
  }

  /** Read again under the lock: the inviter may have lost the right since. */
  async #close(tx: Tx, { id, teamId }: Invitation, now: number): Promise<void> {
    const current = await selectInvitation(tx, teamId, id, now);
    const isOpen = current !== undefined && stateOf(current, now) === 'open';
    if (!isOpen || !(await closeInvitation(tx, current, 'accepted'))) throw new AppError('conflict', 'This invitation is no longer open.');
  }

  #ifOpen(invitation: Invitation | undefined): Invitation | undefined {
    return invitation && this.stateOf(invitation) === 'open' ? invitation : undefined;
  }
}

/** The same message and about the same time for an address without an account: the inviter knows the code too. */
async function checkProof(invitation: Invitation, account: Account | undefined, proof: Proof): Promise<void> {
  if (proof.by === 'provider') {
    if (normalizeEmail(proof.email) !== invitation.email) throw new AppError('forbidden', 'This invitation is for another person.');
    return;
  }
  const matches = await passwordMatches(proof.current, account?.passwordHash ?? null);
  const isNew = account === undefined && proof.current === '';
  if (!matches && !isNew) throw new AppError('invalid', WRONG_PASSWORD, { errors: { current_password: ['is wrong'] } });
  await refuseSamePassword(proof.next, account?.passwordHash ?? null);
}

const WRONG_PASSWORD = 'The current password is wrong. Leave it empty only if you have never had an account on this server.';

function isMember(email: string): AppError {
  return new AppError('conflict', `${email} is already a member of this team`);
}
