import type { Server } from 'node:http';
import { FairShares } from '../../../runtime/fair-shares.ts';
import type { Holder } from '../../../runtime/fair-shares.ts';
import { Arrivals } from '../core/arrivals.ts';

/**
 * Tunnels between their dial and the end of their opening: some 2 ms of work each, so that 256 take half a second. One team, alone, may
 * have half of them. An agent may have as many as it may have tunnels (registry.ts).
 */
export const OPENINGS = { total: 256, perParty: 256, perMember: 8 };

/** Agents give up a dial after 15 s (protocol/SPEC.md): who waits longer than this is refused while it still listens. */
const WAIT_MS = 10_000;
/** A waiting dial takes about 10 kB: its socket and its request. One team, alone, may have them all: it makes room for others. */
export const DIALS_WAITING = 16_000;

/**
 * Openings that begin in one turn of the event loop, some 0.5 ms each until the agent's next message. When a hundred began together, they
 * also sent each of their messages together, and a request waited behind all of them, turn after turn.
 */
export const OPENINGS_IN_A_TURN = 8;

/**
 * Node accepts one connection in each turn of the event loop, and a connection of a user waits behind those of all agents that dial. While
 * connections came in the last 8 turns, one opening begins for each 8 of them: accepting and refusing takes 0.3 ms and an opening 2.5, so
 * that accepting gets half of the time.
 */
export const OPENING_RUSH = { turns: 8, connections: 8 };

/**
 * Even then one begins this often, milliseconds: a quarter of the time. Where each turn is long, because the processor is busy with other
 * work, eight connections take so long that nearly all dials of a fleet would be refused after their wait.
 */
export const OPENING_AT_LEAST_EVERY_MS = 10;

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
 * a few of them at most, however many agents dial at once. The others wait in front of their upgrade, where they cost nothing. Connections
 * that have yet to be accepted come first: users' are among them. Teams take turns, and when too many wait, the team with most of them
 * makes room: no team can keep another one out.
 */
export class Openings {
  readonly shares = new FairShares(OPENINGS);
  /** By team, in the order of their next turns. */
  readonly #lines = new Map<string, Line>();
  /** Those in the lines that have not given up. */
  #waiting = 0;
  /** Openings that may still begin in this turn of the event loop, or while connections wait to be accepted. */
  #places = OPENINGS_IN_A_TURN;
  #isTurnOver = true;
  #isNextPlanned = false;
  readonly #arrivals = new Arrivals(OPENING_RUSH.connections, {
    turns: OPENING_RUSH.turns,
    onStep: () => this.#allow(Math.min(this.#places + 1, OPENINGS_IN_A_TURN)),
    onOver: () => this.#allow(OPENINGS_IN_A_TURN),
  });

  /** Counts this server's connections, to detect that more wait. */
  watch(server: Server): void {
    this.#arrivals.watch(server);
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves when the opening may begin, and then needs a {@link leave}. @returns false when the dial has to be refused */
  enter(holder: Holder): Promise<boolean> {
    const isFirst = !this.#lines.has(holder.party);
    if (isFirst && this.#places > 0 && this.shares.limitFor({ party: holder.party }) === undefined)
      return Promise.resolve(this.#take(holder));
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

  #allow(places: number): void {
    this.#places = places;
    this.#letIn();
  }

  /** @returns false when the agent has as many as it may */
  #take(holder: Holder): boolean {
    if (!this.shares.take(holder)) return false;
    this.#places -= 1;
    if (this.#isTurnOver) setImmediate(() => this.#beginTurn());
    this.#isTurnOver = false;
    if (this.#places === 0) this.#planNext();
    return true;
  }

  #planNext(): void {
    if (this.#isNextPlanned) return;
    this.#isNextPlanned = true;
    setTimeout(() => {
      this.#isNextPlanned = false;
      if (this.#places === 0) this.#allow(1);
    }, OPENING_AT_LEAST_EVERY_MS).unref();
  }

  #beginTurn(): void {
    this.#isTurnOver = true;
    // The end of a rush lets the next ones in.
    if (!this.#arrivals.isRush) this.#allow(OPENINGS_IN_A_TURN);
  }

  #letIn(): void {
    while (this.#places > 0 && this.#letRoundIn());
  }

  /** One dial of each team. @returns whether any was let in */
  #letRoundIn(): boolean {
    const before = this.#places;
    // Not those that are moved to the end meanwhile.
    const parties = [...this.#lines.keys()];
    for (const party of parties) {
      if (this.#places === 0) break;
      const line = this.#lines.get(party)!;
      const { waiters } = line;
      while (waiters.length > 0 && this.shares.limitFor({ party }) === undefined) {
        const waiter = waiters.shift()!;
        if (waiter.isOver) continue;
        // Refused: an agent that dials again and again takes no more than it may have, and no place of its team.
        const isIn = this.#take(waiter.holder);
        this.#end(waiter, isIn);
        if (!isIn) continue;
        // To the end: all other teams come first.
        this.#lines.delete(party);
        this.#lines.set(party, line);
        break;
      }
      if (waiters.length === 0) this.#lines.delete(party);
    }
    return this.#places < before;
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
