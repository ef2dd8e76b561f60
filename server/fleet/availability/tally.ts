import type { Bucket, Share, Shares, Span } from './types.ts';

/** One state of a router. */
export interface Stretch extends Span {
  share: Share;
}

/**
 * Adds up the states of one router over buckets that follow each other. Give the states in the order in which they began, then call
 * {@link finish}. Nothing is known while no control plane ran, whatever the state before and after.
 *
 * States of one router overlap only after the clock was set back: then the one that began last counts.
 */
export class Tally {
  readonly #buckets: Bucket[];
  readonly #known: readonly Span[];
  /** Everything before this time is counted. */
  #at: number;
  readonly #end: number;
  /** States that may still count, the one that began last at the end. */
  #open: Stretch[] = [];
  #bucket = 0;
  #run = 0;

  /** @param known when there was a control plane: in order, without overlaps */
  constructor(buckets: readonly Span[], known: readonly Span[]) {
    this.#buckets = buckets.map(({ from, to }) => ({ from, to, shares: nothing() }));
    this.#known = known;
    this.#at = buckets[0]?.from ?? 0;
    this.#end = buckets.at(-1)?.to ?? 0;
  }

  add(stretch: Stretch): void {
    this.#countUntil(stretch.from);
    this.#open = this.#open.filter(({ to }) => to > this.#at);
    this.#open.push(stretch);
  }

  finish(): Bucket[] {
    this.#countUntil(this.#end);
    return this.#buckets;
  }

  #countUntil(moment: number): void {
    const until = Math.min(moment, this.#end);
    while (this.#at < until) {
      const current = this.#open.at(-1);
      if (current && current.to <= this.#at) this.#open.pop();
      else this.#count(current?.share ?? 'unknown', current ? Math.min(until, current.to) : until);
    }
  }

  /** Cuts a state where control planes start and stop. */
  #count(share: Share, until: number): void {
    while (this.#at < until) {
      const run = this.#known[this.#run];
      if (run && run.to <= this.#at) {
        this.#run += 1;
        continue;
      }
      const isKnown = run !== undefined && run.from <= this.#at;
      const end = Math.min(until, isKnown ? run.to : (run?.from ?? until));
      this.#put(isKnown ? share : 'unknown', end);
    }
  }

  /** Cuts it where buckets end. */
  #put(share: Share, until: number): void {
    while (this.#at < until) {
      const bucket = this.#buckets[this.#bucket]!;
      if (bucket.to <= this.#at) {
        this.#bucket += 1;
        continue;
      }
      const end = Math.min(until, bucket.to);
      bucket.shares[share] += end - this.#at;
      this.#at = end;
    }
  }
}

function nothing(): Shares {
  return { answering: 0, not_answering: 0, agent_away: 0, unknown: 0 };
}

/** Merges spans that touch or overlap. @param spans in the order in which they begin */
export function union(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const { from, to } of spans) {
    const last = joined.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else if (to > from) joined.push({ from, to });
  }
  return joined;
}

/** The shares of several times together. */
export function sum(all: readonly Shares[]): Shares {
  const total = nothing();
  for (const shares of all) for (const share of Object.keys(total) as Share[]) total[share] += shares[share];
  return total;
}

/** How much of the time that is known the router answered, in thousandths of a percent rounded down; null when nothing is known. */
export function percentOf({ answering, not_answering: silent, agent_away: away }: Shares): number | null {
  const known = answering + silent + away;
  return known === 0 ? null : Math.floor((answering / known) * 100_000) / 1000;
}
