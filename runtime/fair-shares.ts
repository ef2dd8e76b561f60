/** Who holds part of a shared resource. */
export interface Holder {
  /** A team; where no team is known yet a network; inside an agent a router. */
  party: string;
  /** One of the party's agents, receivers or keys. Absent where the party's members are not told apart. */
  member?: string | undefined;
}

export interface ShareLimits {
  total: number;
  /** The most that one party may ever hold. */
  perParty: number;
  /** The most that one member of a party may ever hold. */
  perMember: number;
}

/** The limit that refuses one more. */
export type ShareLimit = 'total' | 'party' | 'member';

/** Use of a resource, for metrics. */
export interface SharedUse {
  readonly limits: Readonly<ShareLimits>;
  readonly taken: number;
  /** Number of refusals by limit. */
  readonly refusals: Readonly<Record<ShareLimit, number>>;
}

/** Whether a holder of `held` may take one more while `left` are free: no holder gets more than remains for the others. */
export function mayHaveOneMore({ held, left, most = Infinity }: { held: number; left: number; most?: number }): boolean {
  return held < Math.min(most, left);
}

interface Party {
  held: number;
  members: Map<string | undefined, number>;
}

/**
 * Counts the holders of a shared resource and decides who may take more. Two rules:
 * - the limits above hold;
 * - a holder may not hold more than is left: a party no more than is left of the total, a member no more than is left of its
 *   party's share. (Dynamic thresholds, Choudhury and Hahne 1998, with alpha 1.)
 *
 * The second rule keeps room for newcomers without revoking anything. One party alone gets at most half of the total, and each
 * further greedy party half of what it finds; the last unit always goes to a party that has none. As greedy parties release
 * units, their shares become equal. Nothing waits here; see `server/platform/core/fair-queue.ts`.
 */
export class FairShares implements SharedUse {
  readonly limits: Readonly<ShareLimits>;
  readonly #parties = new Map<string, Party>();
  #taken = 0;
  /** Refusals of {@link take}. Waiting in a queue is not a refusal. */
  readonly refusals: Record<ShareLimit, number> = { total: 0, party: 0, member: 0 };

  constructor(limits: ShareLimits) {
    this.limits = limits;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Units that the party holds. */
  heldBy(party: string): number {
    return this.#parties.get(party)?.held ?? 0;
  }

  /** @returns the limit that refuses one more, undefined when there is none */
  limitFor({ party, member }: Holder): ShareLimit | undefined {
    const { total, perParty, perMember } = this.limits;
    const left = total - this.#taken;
    if (left <= 0) return 'total';
    const { held = 0, members } = this.#parties.get(party) ?? {};
    if (!mayHaveOneMore({ held, left, most: perParty })) return 'party';
    const ofMember = members?.get(member) ?? 0;
    const leftOfParty = Math.min(perParty, total) - held;
    if (member === undefined || mayHaveOneMore({ held: ofMember, left: leftOfParty, most: perMember })) return undefined;
    return 'member';
  }

  /** Takes one. Returns false, and counts the refusal, when a limit refuses it. */
  take(holder: Holder): boolean {
    const limit = this.limitFor(holder);
    if (limit !== undefined) {
      this.refusals[limit] += 1;
      return false;
    }
    const { party: name, member } = holder;
    const party = this.#parties.get(name) ?? { held: 0, members: new Map() };
    this.#parties.set(name, party);
    party.held += 1;
    party.members.set(member, (party.members.get(member) ?? 0) + 1);
    this.#taken += 1;
    return true;
  }

  /** Gives back one that was taken. @throws RangeError when the holder has none, which is a bug of the caller */
  giveBack({ party: name, member }: Holder): void {
    const party = this.#parties.get(name);
    const held = party?.members.get(member) ?? 0;
    if (!party || held === 0) throw new RangeError('this holder has nothing to give back');
    if (held === 1) party.members.delete(member);
    else party.members.set(member, held - 1);
    party.held -= 1;
    if (party.held === 0) this.#parties.delete(name);
    this.#taken -= 1;
  }

  /** Parties that may not take more now. */
  get busyParties(): string[] {
    const most = Math.min(this.limits.perParty, this.limits.total - this.#taken);
    return [...this.#parties].filter(([, { held }]) => held >= most).map(([name]) => name);
  }

  /** Members of the party that may not take more now. */
  busyMembers(party: string): string[] {
    const { members } = this.#parties.get(party) ?? {};
    return [...(members?.keys() ?? [])].filter(
      (member) => member !== undefined && this.limitFor({ party, member }) !== undefined,
    ) as string[];
  }
}
