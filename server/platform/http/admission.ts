import type { Server } from 'node:http';
import { FairShares } from '../../../runtime/fair-shares.ts';
import type { Holder, ShareLimits } from '../../../runtime/fair-shares.ts';
import { AppError } from '../core/errors.ts';
import { Arrivals } from './arrivals.ts';

export interface AdmissionLimits {
  /** Requests that are worked on at the same time. */
  atOnce: number;
  /** While connections wait to be accepted (arrivals.ts): so many requests are let in after so many connections. */
  rush: { requests: number; connections: number };
  /** Requests that wait for that: all together, of one network, and of one credential in it. */
  waiting: ShareLimits;
  /** Longest wait, milliseconds: whoever cannot be served is to know it within a second. */
  waitMs: number;
  /**
   * So often a request that is worked on is asked whether it waits for its client, milliseconds. Well below `waitMs`: otherwise a team
   * that opens a hundred event streams would be refused, and everybody else with it.
   */
  lookMs: number;
  /**
   * Longest time for which a request counts as worked on, milliseconds. What takes longer waits for something that nobody named
   * (core/request-place.ts), and must not keep everybody out.
   */
  workMs: number;
}

/**
 * 64: more than commits and database connections can share (a group commit gains little beyond it, a pool has ten
 * connections), and at some 3 ms of work each a new request is behind 0.2 s of others. 512 waiting are 1.5 s of work, of which what has
 * not begun after 0.8 s is refused. 64 requests take 5 s only on a machine that is 25 times slower. 32 requests after 256 connections: what is
 * accepted and refused takes about as long as the work that is let in, so that a rush costs half of what can be done, and 3,000 callers
 * are accepted within seconds; 32 still share a commit.
 */
export const ADMISSION: AdmissionLimits = {
  atOnce: 64,
  rush: { requests: 32, connections: 256 },
  waiting: { total: 512, perParty: 384, perMember: 256 },
  waitMs: 800,
  lookMs: 150,
  workMs: 5000,
};

/** Tells the process that a request is over; may be called again. */
export type Leave = () => void;

interface Waiter {
  /** @param isIn false: it has waited for too long */
  resolve: (isIn: boolean) => void;
  timer: NodeJS.Timeout;
}

/**
 * The one queue in front of the HTTP interface. Without it 3,000 requests at once are all begun, share the processor, and the last is
 * answered after half a minute, when its caller has gone. Networks take turns, and in each the credentials that come from there: one
 * that sends a thousand requests delays itself, and whoever makes up a credential for each request delays their own network. No network
 * waits with more than it leaves to others. An idle process admits in the same turn of the event loop.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  /** By network and credential, both in the order of their turns; first come, first served within each credential. */
  readonly #queues = new Map<string, Map<string | undefined, Waiter[]>>();
  readonly #shares: FairShares;
  readonly #arrivals: Arrivals;
  /** Requests that may still be let in while connections wait to be accepted. */
  #bunch = 0;
  #working = 0;
  #refused = 0;

  constructor(limits: AdmissionLimits = ADMISSION) {
    this.#limits = limits;
    this.#shares = new FairShares(limits.waiting);
    const { requests, connections } = limits.rush;
    const onBunch = (): void => {
      this.#bunch = requests;
      this.#admitNext();
    };
    this.#arrivals = new Arrivals(connections, { onBunch, onOver: () => this.#admitNext() });
  }

  /** The requests of this server's connections pass here. */
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
   * Without a promise when the process is not busy, or when too many wait: then it is answered in the same turn of the event loop.
   * @returns a promise of whether the request was admitted, for one that has to wait. It never rejects
   */
  enter(caller: Holder): 'admitted' | 'refused' | Promise<boolean> {
    if (this.waiting === 0 && this.#takePlace()) {
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
   * For a request that was admitted: call the result when it is over, or when it waits for somebody outside.
   * @param waitsForClient whether the rest of the request or the reading of the answer is all that it waits for
   */
  begin(waitsForClient: () => boolean = () => false): Leave {
    const { lookMs, workMs } = this.#limits;
    let looks = 0;
    // Forgotten with the place: a forward that this request opens may keep `leave` for days.
    let work: { timer: NodeJS.Timeout; waitsForClient: () => boolean } | undefined;
    const leave = (): void => {
      if (work === undefined) return;
      clearInterval(work.timer);
      work = undefined;
      this.#working -= 1;
      this.#admitNext();
    };
    const look = (): void => {
      looks += 1;
      if (looks * lookMs >= workMs || work?.waitsForClient()) leave();
    };
    work = { timer: setInterval(look, lookMs).unref(), waitsForClient };
    return leave;
  }

  #takePlace(): boolean {
    if (this.#working >= this.#limits.atOnce) return false;
    if (this.#arrivals.isRush) {
      if (this.#bunch === 0) return false;
      this.#bunch -= 1;
    }
    this.#working += 1;
    return true;
  }

  #admitNext(): void {
    while (this.waiting > 0 && this.#takePlace()) {
      const [party, network] = this.#queues.entries().next().value!;
      const [member, queue] = network.entries().next().value!;
      const waiter = queue.shift()!;
      // To the end of the turns, of the network as well.
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

/** What a refused request is told. */
export const OVERLOADED = new AppError(
  'unavailable',
  'the control plane has more requests than it can answer in time; come back in a moment',
);
