import { randomInt, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../platform/core/clock.ts';
import { AppError, invalidField } from '../../../platform/core/errors.ts';
import { newId, newSecret } from '../../../platform/core/ids.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import { removeInBatches } from '../../../platform/core/removal-batches.ts';
import type { Secrets } from '../../../platform/storage/secrets.ts';
import { deleteProofsBefore, endProofs, insertProof, lockTeam, selectProofs, selectSendings, takeTry } from './store.ts';
import { PROOF } from './types.ts';
import type { ProofOf, ProofOwner } from './types.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PURPOSE = 'address proof';
const DIGITS = 6;
/** As in the link of an invitation: 238 bits. */
const LINK_CHARS = 40;

export interface ProofsDeps {
  storage: Storage;
  clock: Clock;
  secrets: Pick<Secrets, 'fingerprints'>;
}

/** Codes that prove who reads an address. Their number is limited, because the address may be a stranger's. */
export class AddressProofs {
  readonly #deps: ProofsDeps;

  constructor(deps: ProofsDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a code; earlier ones of the same owner end.
   * @returns the code, to be sent to the address and shown nowhere else
   * @throws AppError `rate_limited` for too many codes of the team or to the address
   */
  async issue(proof: ProofOf, form: 'digits' | 'link' = 'digits'): Promise<{ code: string; expiresAt: number }> {
    const { storage, clock } = this.#deps;
    const now = clock.now();
    const id = newId(now);
    const code = form === 'link' ? newSecret(LINK_CHARS) : String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');
    const expiresAt = now + (form === 'link' ? PROOF.linkLifeMs : PROOF.lifeMs);
    await storage.writes.write(async (tx) => {
      await lockTeam(tx, proof.teamId);
      await refuseTooMany(tx, proof, now);
      await endProofs(tx, proof);
      await insertProof(tx, { ...proof, id, codeHash: this.#hashes(id, code)[0]!, sentAt: now, expiresAt });
    });
    return { code, expiresAt };
  }

  /**
   * Checks a code, and has `prove` store that the address is proved, in one transaction. Each wrong code counts.
   * @param prove gets the hash of the address to which the code was sent; false when the owner has another one by now
   * @throws AppError `invalid` for a wrong code, or one that is no longer valid
   */
  async use(owner: ProofOwner, code: string, prove: (tx: Tx, addressKey: string) => Promise<boolean>): Promise<void> {
    const { storage, clock } = this.#deps;
    // The refusal comes after the transaction, which must keep the counted try.
    const refusal = await storage.writes.write(async (tx) => {
      const open = await takeTry(tx, owner, { now: clock.now(), tries: PROOF.tries });
      if (!open) return ENDED;
      if (!this.#hashes(open.id, code).some((hash) => isSame(hash, open.codeHash))) return open.tries < PROOF.tries ? WRONG : ENDED;
      if (!(await prove(tx, open.addressKey))) return ENDED;
      await endProofs(tx, owner);
      return undefined;
    });
    if (refusal !== undefined) throw invalidField('code', refusal);
  }

  /** Whether the code was sent to this address in the last days: it may have been used. */
  async wasFor(owner: ProofOwner, addressKey: string, code: string): Promise<boolean> {
    const sent = await selectProofs(this.#deps.storage.db, owner, addressKey);
    return sent.some(({ id, codeHash }) => this.#hashes(id, code).some((hash) => isSame(hash, codeHash)));
  }

  /** Deletes old codes. */
  async sweep(signal?: AbortSignal): Promise<void> {
    const { storage, clock } = this.#deps;
    const before = clock.now() - 2 * DAY_MS;
    await removeInBatches(storage, (tx, limit) => deleteProofsBefore(tx, before, limit), { signal });
  }

  /** Keyed: six digits could be guessed from a plain hash. */
  #hashes(id: string, code: string): string[] {
    return this.#deps.secrets.fingerprints(PURPOSE, `${id} ${code}`);
  }
}

const WRONG = 'is not the code that was sent';
const ENDED = 'is no longer valid; ask for another one';

async function refuseTooMany(tx: Tx, { teamId, ownerId, addressKey }: ProofOf, now: number): Promise<void> {
  const limits = [
    { by: { column: 'owner_id', value: ownerId }, most: 1, withinMs: PROOF.pauseMs, what: 'a code was sent a moment ago' },
    { by: { column: 'team_id', value: teamId }, most: PROOF.perTeamAnHour, withinMs: HOUR_MS, what: 'the team has asked for many codes' },
    {
      by: { column: 'address_key', value: addressKey },
      most: PROOF.perAddressADay,
      withinMs: DAY_MS,
      what: 'many codes were sent to this address',
    },
  ] as const;
  for (const { by, most, withinMs, what } of limits) {
    const sent = await selectSendings(tx, by, now - withinMs, most);
    if (sent.length < most) continue;
    throw new AppError('rate_limited', `${what}; try again later`, { retryAfterMs: Math.max(1, sent[0]! + withinMs - now) });
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
