import { AppError } from '../core/errors.ts';

export interface AdmissionLimits {
  /** Requests that are worked on at the same time. */
  atOnce: number;
  /** Requests that wait for that, all callers together, and of one caller. */
  waiting: number;
  waitingOfCaller: number;
  /** Longest wait, milliseconds: whoever cannot be served is to know it within a second. */
  waitMs: number;
  /**
   * So long a request counts as worked on, milliseconds. What takes longer waits for a router or keeps a stream open, and costs
   * the process nothing meanwhile.
   */
  workMs: number;
}

/**
 * 64: more than commits and database connections can share (a group commit gains little beyond it, a pool has ten
 * connections), and at some 3 ms of work each a new request is behind 0.2 s of others. 512 waiting are 1.5 s of work, of which what has
 * not begun after 0.8 s is refused.
 */
export const ADMISSION: AdmissionLimits = { atOnce: 64, waiting: 512, waitingOfCaller: 256, waitMs: 800, workMs: 1000 };

/** Tells the process that a request is over; may be called again. */
export type Leave = () => void;

interface Waiter {
  admit: () => void;
  refuse: (error: AppError) => void;
  timer: NodeJS.Timeout;
}

/**
 * The one queue in front of the HTTP interface. Without it 3,000 requests at once are all begun, share the processor, and the last is
 * answered after half a minute, when its caller has gone. Callers take turns, so that one that sends a thousand requests
 * delays itself. An idle process admits in the same turn of the event loop.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  /** First come, first served within each caller; callers in the order of their turns. */
  readonly #queues = new Map<string, Waiter[]>();
  #working = 0;
  #waiting = 0;
  #refused = 0;

  constructor(limits: AdmissionLimits = ADMISSION) {
    this.#limits = limits;
  }

  get working(): number {
    return this.#working;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Since the start. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Undefined when the process is not busy, so that nobody waits for a promise in vain.
   * @throws AppError `unavailable`, at once when too many wait, or after the longest wait
   */
  enter(caller: string): Promise<void> | undefined {
    if (this.#working < this.#limits.atOnce && this.#waiting === 0) {
      this.#working += 1;
      return undefined;
    }
    const queue = this.#queues.get(caller) ?? [];
    if (this.#waiting >= this.#limits.waiting || queue.length >= this.#limits.waitingOfCaller) {
      this.#refused += 1;
      throw overloaded();
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { admit: resolve, refuse: reject, timer: setTimeout(() => this.#giveUp(caller, waiter), this.#limits.waitMs) };
      queue.push(waiter);
      this.#queues.set(caller, queue);
      this.#waiting += 1;
    });
  }

  /** For a request that was admitted: call the result when it is over. */
  begin(): Leave {
    let isOver = false;
    const leave = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.#working -= 1;
      this.#admitNext();
    };
    const timer = setTimeout(leave, this.#limits.workMs);
    timer.unref();
    return leave;
  }

  #admitNext(): void {
    while (this.#working < this.#limits.atOnce) {
      const next = this.#queues.entries().next().value;
      if (next === undefined) return;
      const [caller, queue] = next;
      const waiter = queue.shift()!;
      // To the end of the turns.
      this.#queues.delete(caller);
      if (queue.length > 0) this.#queues.set(caller, queue);
      clearTimeout(waiter.timer);
      this.#waiting -= 1;
      this.#working += 1;
      waiter.admit();
    }
  }

  #giveUp(caller: string, waiter: Waiter): void {
    const queue = this.#queues.get(caller);
    const index = queue?.indexOf(waiter) ?? -1;
    if (!queue || index === -1) return;
    queue.splice(index, 1);
    if (queue.length === 0) this.#queues.delete(caller);
    this.#waiting -= 1;
    this.#refused += 1;
    waiter.refuse(overloaded());
  }
}

function overloaded(): AppError {
  return new AppError('unavailable', 'the control plane has more requests than it can answer in time; come back in a moment');
}
