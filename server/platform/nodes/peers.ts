import { BEAT_EVERY_MS, DEAD_AFTER_MS } from './claim.ts';
import { isGone } from './process-identity.ts';
import type { NodeRecord } from './store.ts';

/** Without a look for this long, this process was frozen or the database was away: what it has not seen says nothing of others. */
const LONGEST_PAUSE_MS = 2 * BEAT_EVERY_MS + 500;

/** The beat of another control plane when it was seen first, and when that was on the monotonic clock. */
interface Seen {
  beat: number;
  atMs: number;
}

/**
 * Which of the other control planes have died, judged by beats alone: clocks of machines differ. One is dead when its beat has not changed
 * for 10 s in which this process has stored its own, or when its process ran on this machine and is gone.
 */
export class Peers {
  readonly #ownId: string;
  #seen = new Map<string, Seen>();
  #lookedAtMs = -Infinity;

  constructor(ownId: string) {
    this.#ownId = ownId;
  }

  /** How long ago the beat of another one was seen to change, milliseconds; undefined before it was seen. */
  beatAgeMs(id: string, nowMs: number): number | undefined {
    const seen = this.#seen.get(id);
    return seen && nowMs - seen.atMs;
  }

  /**
   * To be called after each own beat that was stored.
   * @returns the dead, which the caller removes if their beat is still this one, and the ids of those that left since the last look
   */
  look(nodes: readonly NodeRecord[], nowMs: number): { dead: NodeRecord[]; left: string[] } {
    const left = [...this.#seen.keys()].filter((id) => !nodes.some((node) => node.id === id));
    const known = nowMs - this.#lookedAtMs > LONGEST_PAUSE_MS ? new Map<string, Seen>() : this.#seen;
    this.#lookedAtMs = nowMs;
    this.#seen = new Map();
    const dead = nodes.filter((node) => {
      if (node.id === this.#ownId) return false;
      const before = known.get(node.id);
      const seen = before?.beat === node.beat ? before : { beat: node.beat, atMs: nowMs };
      this.#seen.set(node.id, seen);
      return nowMs - seen.atMs >= DEAD_AFTER_MS || isGone(node.process);
    });
    return { dead, left };
  }
}
