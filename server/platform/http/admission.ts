import type { Server } from 'node:http';
import { FairShares } from '../../../runtime/fair-shares.ts';
import type { Holder, ShareLimits } from '../../../runtime/fair-shares.ts';
import { AppError } from '../core/errors.ts';
import { Arrivals } from '../core/arrivals.ts';

export interface AdmissionLimits {
  /** Requests in progress at the same time. */
  atOnce: number;
  /**
   * While connections wait to be accepted (arrivals.ts): admit `requests` for each `connections` accepted. `oneByOne` of them are
   * spread evenly, the others are admitted together. `connections` is a multiple of `oneByOne`.
   */
  rush: { requests: number; oneByOne: number; connections: number };
  /** Waiting requests: in total, per network, and per credential within a network. */
  waiting: ShareLimits;
  /** Longest wait, milliseconds: a caller that cannot be served gets its refusal within a second. */
  waitMs: number;
  /**
   * How often to check whether a request in progress only waits for its client, milliseconds. Well below `waitMs`: otherwise a team
   * that opens a hundred event streams would block everybody.
   */
  checkMs: number;
  /**
   * Longest time for which a request holds its slot, milliseconds. A longer one waits for something outside that did not release the
   * slot (core/admission-slot.ts), and must not block others.
   */
  workMs: number;
}

/**
 * 64 in progress: a group commit gains little beyond that and a pool has ten connections; at about 3 ms each, a new request waits
 * behind 0.2 s of others. 512 waiting are 1.5 s of work; those that have not begun after 0.8 s are refused. 64 requests take 5 s only
 * on a machine that is 25 times slower. 32 requests after 256 connections: accepting and refusing then takes about as long as the
 * admitted work. So a rush costs half of the capacity, 3,000 callers are accepted within seconds, and 24 still share a commit. Eight come
 * one by one: on a busy machine 256 connections take longer than the longest wait, and a caller that asks in between would be refused.
 */
export const ADMISSION: AdmissionLimits = {
  atOnce: 64,
  rush: { requests: 32, oneByOne: 8, connections: 256 },
  waiting: { total: 512, perParty: 384, perMember: 256 },
  waitMs: 800,
  checkMs: 150,
  workMs: 5000,
};

/** Releases the slot of a request; repeated calls have no effect. */
export type ReleaseSlot = () => void;

interface Waiter {
  /** @param isAdmitted false: it has waited too long */
  resolve: (isAdmitted: boolean) => void;
  timer: NodeJS.Timeout;
}

/**
 * The one queue in front of the HTTP interface. Without it, 3,000 simultaneous requests would all start, share the processor, and the
 * last would be answered after half a minute, when its caller has given up. Networks take turns, and so do the credentials within each
 * network: a caller with a thousand requests delays itself, and one that invents a credential for each request delays its own network.
 * No network may hold more of the queue than it leaves to others. An idle process admits in the same turn of the event loop.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  /** By network and credential, both in round-robin order; first come, first served within each credential. */
  readonly #queues = new Map<string, Map<string | undefined, Waiter[]>>();
  readonly #shares: FairShares;
  readonly #arrivals: Arrivals;
  /** Requests that may still be admitted while connections wait to be accepted. */
  #places = 0;
  #working = 0;
  #refused = 0;

  constructor(limits: AdmissionLimits = ADMISSION) {
    this.#limits = limits;
    this.#shares = new FairShares(limits.waiting);
    const { requests, oneByOne, connections } = limits.rush;
    const onStep = (accepted: number): void => {
      if (accepted % connections === 0) this.#places = requests - oneByOne;
      if (oneByOne > 0) this.#places += 1;
      this.#admitNext();
    };
    this.#arrivals = new Arrivals(connections / Math.max(1, oneByOne), { onStep, onOver: () => this.#admitNext() });
  }

  /** Counts this server's connections, to detect a rush. */
  watch(server: Server): void {
    this.#arrivals.watch(server);
  }

  get working(): number {
    return this.#working;
  }

  get waiting(): number {
    return this.#shares.taken;
  }

  /** Since the start. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Decides at once when the process is not busy or when too many wait.
   * @returns for a request that has to wait, a promise of whether it was admitted. It never rejects
   */
  enter(caller: Holder): 'admitted' | 'refused' | Promise<boolean> {
    if (this.waiting === 0 && this.#takeSlot()) {
      return 'admitted';
    }
    if (!this.#shares.take(caller)) {
      this.#refused += 1;
      return 'refused';
    }
    return new Promise((resolve) => {
      const waiter: Waiter = { resolve, timer: setTimeout(() => this.#giveUp(caller, waiter), this.#limits.waitMs) };
      const network = this.#queues.get(caller.party) ?? new Map<string | undefined, Waiter[]>();
      const queue = network.get(caller.member) ?? [];
      queue.push(waiter);
      network.set(caller.member, queue);
      this.#queues.set(caller.party, network);
    });
  }

  /**
   * Starts an admitted request. Call the result when it is over, or when it waits for something outside.
   * @param waitsForClient whether it only waits for its client to send the rest or to read the answer
   */
  begin(waitsForClient: () => boolean = () => false): ReleaseSlot {
    const { checkMs, workMs } = this.#limits;
    let checks = 0;
    // Dropped with the slot: a forward that this request opens may keep `release` for days.
    let work: { timer: NodeJS.Timeout; waitsForClient: () => boolean } | undefined;
    const release = (): void => {
      if (work === undefined) return;
      clearInterval(work.timer);
      work = undefined;
      this.#working -= 1;
      this.#admitNext();
    };
    const check = (): void => {
      checks += 1;
      if (checks * checkMs >= workMs || work?.waitsForClient()) release();
    };
    work = { timer: setInterval(check, checkMs).unref(), waitsForClient };
    return release;
  }

  #takeSlot(): boolean {
    if (this.#working >= this.#limits.atOnce) return false;
    if (this.#arrivals.isRush) {
      if (this.#places === 0) return false;
      this.#places -= 1;
    }
    this.#working += 1;
    return true;
  }

  #admitNext(): void {
    while (this.waiting > 0 && this.#takeSlot()) {
      const [party, network] = this.#queues.entries().next().value!;
      const [member, queue] = network.entries().next().value!;
      const waiter = queue.shift()!;
      // Both the credential and its network go to the end of the round.
      network.delete(member);
      if (queue.length > 0) network.set(member, queue);
      this.#queues.delete(party);
      if (network.size > 0) this.#queues.set(party, network);
      clearTimeout(waiter.timer);
      this.#shares.giveBack({ party, member });
      waiter.resolve(true);
    }
  }

  #giveUp(caller: Holder, waiter: Waiter): void {
    const network = this.#queues.get(caller.party);
    const queue = network?.get(caller.member);
    const index = queue?.indexOf(waiter) ?? -1;
    if (!network || !queue || index === -1) return;
    queue.splice(index, 1);
    if (queue.length === 0) network.delete(caller.member);
    if (network.size === 0) this.#queues.delete(caller.party);
    this.#shares.giveBack(caller);
    this.#refused += 1;
    waiter.resolve(false);
  }
}

/** Answer to a refused request. */
export const OVERLOADED = new AppError(
  'unavailable',
  'the control plane has more requests than it can answer in time; try again in a moment',
);
