import { LRUCache } from 'lru-cache';
import { FairShares } from '../../../runtime/fair-shares.ts';
import type { ShareLimits } from '../../../runtime/fair-shares.ts';
import type { Counters } from '../core/counters.ts';
import { TokenBucket } from '../core/token-bucket.ts';
import type { Rate } from '../core/token-bucket.ts';

/**
 * Channels that are open. Each is a socket here, and mostly another one at an entry port: 40,000 descriptors, and some 400 MB. An agent
 * carries 1,000 connections unless its configuration says otherwise, and keeps four channels ready for each forward.
 */
export const OPEN_CHANNELS: ShareLimits = { total: 20_000, perParty: 10_000, perMember: 4096 };

/** Channels that one agent dials. After a reconnect it dials those of all its forwards at once; busy ones are used again, not dialled. */
export const CHANNEL_DIALS: Rate = { perSecond: 100, burst: 5000 };

/** Agents whose dials are remembered. */
const REMEMBERED = 20_000;

/** Whose forward a channel belongs to. */
export interface ChannelOwner {
  teamId: string;
  agentId: string;
}

/** How an upgrade is answered that may not become a channel. */
export interface ChannelRefusal {
  status: 429 | 503;
  retryAfterMs: number | undefined;
}

export interface ChannelLimitsOptions {
  open?: ShareLimits;
  dials?: Rate;
  counters?: Pick<Counters, 'add'> | undefined;
  /** Elapsed milliseconds. */
  monotonic: () => number;
}

/** What agents may dial and hold of channels, whoever has their tokens. */
export class ChannelLimits {
  readonly open: FairShares;
  readonly #dials: Rate;
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: REMEMBERED });
  readonly #options: ChannelLimitsOptions;

  constructor(options: ChannelLimitsOptions) {
    this.#options = options;
    this.open = new FairShares(options.open ?? OPEN_CHANNELS);
    this.#dials = options.dials ?? CHANNEL_DIALS;
  }

  /** Counts a channel until {@link closed} is called. @returns why it may not be opened; undefined when it may */
  admit({ teamId, agentId }: ChannelOwner): ChannelRefusal | undefined {
    const now = this.#options.monotonic();
    const bucket = this.#buckets.get(agentId) ?? new TokenBucket(this.#dials, now);
    this.#buckets.set(agentId, bucket);
    const waitMs = bucket.waitMs(now);
    if (waitMs > 0) {
      this.#options.counters?.add('channel_dials');
      return { status: 429, retryAfterMs: waitMs };
    }
    bucket.take(1, now);
    return this.open.take({ party: teamId, member: agentId }) ? undefined : { status: 503, retryAfterMs: undefined };
  }

  closed({ teamId, agentId }: ChannelOwner): void {
    this.open.giveBack({ party: teamId, member: agentId });
  }
}
