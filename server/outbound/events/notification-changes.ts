import type { Clock, Timer } from '../../platform/core/clock.ts';

/** Smooth for a person who watches, and 30 short events a minute for a team in a storm of messages. */
export const TELL_EVERY_MS = 2000;

interface Waiting {
  timer: Timer;
  /** Something has changed since the team was told. */
  hasMore: boolean;
}

/**
 * Tells that threads and messages of a team have changed: at once, then at most every 2 s. A storm writes and sends hundreds of messages a
 * second; an event for each would push all others out of the memory of the stream.
 */
export class NotificationChanges {
  readonly #clock: Clock;
  readonly #tell: (teamId: string) => void;
  /** Teams that were told within the last 2 s. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(clock: Clock, tell: (teamId: string) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  note(teamId: string): void {
    const waiting = this.#waiting.get(teamId);
    if (waiting) waiting.hasMore = true;
    else this.#tellNow(teamId);
  }

  /** Another control plane has told it just now. */
  told(teamId: string): void {
    if (!this.#waiting.has(teamId)) this.#wait(teamId);
  }

  /** Tells what is still to be told. */
  stop(): void {
    for (const [teamId, { timer, hasMore }] of this.#waiting) {
      timer.cancel();
      if (hasMore) this.#tell(teamId);
    }
    this.#waiting.clear();
  }

  #tellNow(teamId: string): void {
    this.#wait(teamId);
    this.#tell(teamId);
  }

  #wait(teamId: string): void {
    this.#waiting.set(teamId, { timer: this.#clock.setTimeout(() => this.#onPause(teamId), TELL_EVERY_MS), hasMore: false });
  }

  #onPause(teamId: string): void {
    const { hasMore } = this.#waiting.get(teamId)!;
    this.#waiting.delete(teamId);
    if (hasMore) this.#tellNow(teamId);
  }
}
