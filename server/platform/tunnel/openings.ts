import { FairShares } from '../../../runtime/fair-shares.ts';
import type { Holder } from '../../../runtime/fair-shares.ts';

/**
 * Tunnels between their dial and the end of their opening: some 2 ms of work each, so that 256 take half a second. One team, alone, may
 * have half of them. An agent may have as many as it may have tunnels (registry.ts).
 */
export const OPENINGS = { total: 256, perParty: 256, perMember: 8 };

/** Agents give up a dial after 15 s (protocol/SPEC.md): who waits longer than this is refused while it still listens. */
const WAIT_MS = 10_000;
/** A waiting dial takes about 10 kB: its socket and its request. One team, alone, may have them all: it makes room for others. */
export const DIALS_WAITING = 16_000;

interface Waiter {
  holder: Holder;
  grant: (isGranted: boolean) => void;
  timer: NodeJS.Timeout;
  isOver: boolean;
}

/** The dials of a team that wait. */
interface Line {
  /** In their order; also those that gave up, until their turn. */
  waiters: Waiter[];
  /** Without those that gave up. */
  waiting: number;
}

/**
 * Lets dials of authenticated agents in a few at a time. Those that are under way are opened within their deadlines, and requests wait for
 * a few of them at most, however many agents dial at once. The others wait in front of their upgrade, where they cost nothing. Teams take
 * turns, and when too many wait, the team with most of them makes room: no team can keep another one out.
 */
export class Openings {
  readonly shares = new FairShares(OPENINGS);
  /** By team, in the order of their next turns. */
  readonly #lines = new Map<string, Line>();
  /** Those in the lines that have not given up. */
  #waiting = 0;

  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves when the opening may begin, and then needs a {@link leave}. @returns false when the dial has to be refused */
  enter(holder: Holder): Promise<boolean> {
    const isFirst = !this.#lines.has(holder.party);
    if (isFirst && this.shares.limitFor({ party: holder.party }) === undefined) return Promise.resolve(this.shares.take(holder));
    if (this.#waiting >= DIALS_WAITING && !this.#makeRoomFor(holder.party)) return Promise.resolve(false);
    this.#waiting += 1;
    return new Promise((resolve) => {
      const waiter: Waiter = { holder, grant: resolve, timer: setTimeout(() => this.#end(waiter, false), WAIT_MS), isOver: false };
      const line = this.#lines.get(holder.party) ?? { waiters: [], waiting: 0 };
      this.#lines.set(holder.party, line);
      line.waiters.push(waiter);
      line.waiting += 1;
    });
  }

  /** The opening is over, one way or the other. */
  leave(holder: Holder): void {
    this.shares.giveBack(holder);
    this.#letIn();
  }

  #letIn(): void {
    const parties = [...this.#lines.keys()];
    for (const party of parties) {
      const line = this.#lines.get(party)!;
      const { waiters } = line;
      while (waiters.length > 0 && this.shares.limitFor({ party }) === undefined) {
        const waiter = waiters.shift()!;
        if (waiter.isOver) continue;
        // Refused: an agent that dials again and again takes no more than it may have, and no place of its team.
        const isIn = this.shares.take(waiter.holder);
        this.#end(waiter, isIn);
        if (!isIn) continue;
        // To the end: all other teams come first.
        this.#lines.delete(party);
        this.#lines.set(party, line);
        break;
      }
      if (waiters.length === 0) this.#lines.delete(party);
    }
  }

  /** Refuses the last dial of the team that has most waiting. @returns false when this team itself has as many */
  #makeRoomFor(party: string): boolean {
    let largest: Line | undefined;
    for (const line of this.#lines.values()) if (line.waiting > (largest?.waiting ?? 0)) largest = line;
    if (!largest || largest.waiting <= (this.#lines.get(party)?.waiting ?? 0)) return false;
    let last = largest.waiters.pop()!;
    while (last.isOver) last = largest.waiters.pop()!;
    this.#end(last, false);
    if (largest.waiters.length === 0) this.#lines.delete(last.holder.party);
    return true;
  }

  #end(waiter: Waiter, isGranted: boolean): void {
    if (waiter.isOver) return;
    waiter.isOver = true;
    clearTimeout(waiter.timer);
    this.#waiting -= 1;
    this.#lines.get(waiter.holder.party)!.waiting -= 1;
    waiter.grant(isGranted);
  }
}
