/**
 * Where the simulated router gets its time from. Everything that waits or stamps goes through a TimeSource,
 * so that a test can move hours in a moment.
 */
export interface TimeSource {
  /** Milliseconds since 1970 of the real or the imagined world; the router's own clock is derived from it. */
  now(): number;
  /** Calls back once after `ms` milliseconds. The returned function cancels it. */
  after(ms: number, callback: () => void): () => void;
}

// Node fires a longer timeout at once, so a long wait is made of pieces.
const LONGEST_TIMEOUT_MS = 2_147_000_000;

/** The machine's own clock. Its timers do not keep the process alive: the listeners do. */
export function systemTime(): TimeSource {
  return { now: () => Date.now(), after: waitInPieces };
}

function waitInPieces(ms: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (left: number): void => {
    const piece = Math.min(left, LONGEST_TIMEOUT_MS);
    timer = setTimeout(() => (left > piece ? arm(left - piece) : callback()), Math.max(0, piece));
    timer.unref();
  };
  arm(ms);
  return () => clearTimeout(timer);
}

interface Waiting {
  at: number;
  callback: () => void;
}

/** A clock that stands still until the test advances it. */
export class ManualTime implements TimeSource {
  #now: number;
  #waiting: Waiting[] = [];

  constructor(start: number | string = '2026-11-20T10:00:00Z') {
    this.#now = typeof start === 'number' ? start : Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const entry = { at: this.#now + Math.max(0, ms), callback };
    this.#waiting.push(entry);
    return () => {
      this.#waiting = this.#waiting.filter((waiting) => waiting !== entry);
    };
  }

  /** Moves on by `ms`, firing what falls due in order and letting the promises it wakes run in between. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await settle();
    for (let next = this.#takeDue(target); next; next = this.#takeDue(target)) {
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await settle();
    }
    this.#now = target;
    await settle();
  }

  #takeDue(target: number): Waiting | undefined {
    const due = this.#waiting.filter((entry) => entry.at <= target).sort((a, b) => a.at - b.at)[0];
    if (due) this.#waiting = this.#waiting.filter((entry) => entry !== due);
    return due;
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
