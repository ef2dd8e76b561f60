/** Who holds part of a shared resource. */
export interface Holder {
  /** A team; where no team is known yet a network; inside an agent a router. */
  party: string;
  /** One of the party's agents, receivers or keys; left out where all of a party are alike. */
  member?: string | undefined;
}

export interface ShareLimits {
  total: number;
  /** The most that one party may ever hold. */
  perParty: number;
  /** The most that one member of a party may ever hold. */
  perMember: number;
}

/** Which limit stands in the way. */
export type ShareLimit = 'total' | 'party' | 'member';

/** How far a resource is used, for those who watch it. */
export interface SharedUse {
  readonly limits: Readonly<ShareLimits>;
  readonly taken: number;
  /** How often somebody was refused, by the limit that was in the way. */
  readonly refusals: Readonly<Record<ShareLimit, number>>;
}

/** Whether somebody who holds so many may have one more while so many are left: nobody holds more than is left for others. */
export function mayHaveOneMore({ held, left, most = Infinity }: { held: number; left: number; most?: number }): boolean {
  return held < Math.min(most, left);
}

interface Party {
  held: number;
  members: Map<string | undefined, number>;
}

/**
 * Counts who holds how much of a resource that many share, and says who may have more. Two rules:
 * - the limits above hold;
 * - nobody gets more when he holds as much as is left: a party as much as is left of the total, a member as much as is
 *   left of what its party may hold. (Dynamic thresholds, Choudhury and Hahne 1998, with alpha 1.)
 *
 * The second rule keeps room for newcomers without taking anything back, however long it is held. One party alone gets
 * half of the total at most, each further greedy one half of what it finds, and the last one left is always for somebody
 * who has none. As soon as greedy parties give back, they come to equal shares. Nothing waits here; see
 * `server/platform/core/fair-queue.ts`.
 */
export class FairShares implements SharedUse {
  readonly limits: Readonly<ShareLimits>;
  readonly #parties = new Map<string, Party>();
  #taken = 0;
  /** Those of `take`; whoever waits for his turn is not refused. */
  readonly refusals: Record<ShareLimit, number> = { total: 0, party: 0, member: 0 };

  constructor(limits: ShareLimits) {
    this.limits = limits;
  }

  get taken(): number {
    return this.#taken;
  }

  /** How much the party holds. */
  heldBy(party: string): number {
    return this.#parties.get(party)?.held ?? 0;
  }

  /** @returns the limit that is in the way of one more, undefined when there is none */
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

  /** Takes one; false, and counted, when a limit is in the way. */
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

  /** Gives back one that was taken. @throws RangeError when the holder has none: a mistake of the caller */
  giveBack({ party: name, member }: Holder): void {
    const party = this.#parties.get(name);
    const held = party?.members.get(member) ?? 0;
    if (!party || held === 0) throw new RangeError('nothing is held by whoever gives this back');
    if (held === 1) party.members.delete(member);
    else party.members.set(member, held - 1);
    party.held -= 1;
    if (party.held === 0) this.#parties.delete(name);
    this.#taken -= 1;
  }

  /** Parties that may not have more now. */
  get busyParties(): string[] {
    const most = Math.min(this.limits.perParty, this.limits.total - this.#taken);
    return [...this.#parties].filter(([, { held }]) => held >= most).map(([name]) => name);
  }

  /** Members of the party that may not have more now. */
  busyMembers(party: string): string[] {
    const { members } = this.#parties.get(party) ?? {};
    return [...(members?.keys() ?? [])].filter(
      (member) => member !== undefined && this.limitFor({ party, member }) !== undefined,
    ) as string[];
  }
}
