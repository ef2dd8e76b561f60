import { LRUCache } from 'lru-cache';
import { FairShares } from '../../../runtime/fair-shares.ts';
import type { ShareLimits } from '../../../runtime/fair-shares.ts';
import type { Counters } from '../core/counters.ts';
import { TokenBucket } from '../core/token-bucket.ts';
import type { Rate } from '../core/token-bucket.ts';

/**
 * Open channels. Each is a socket here, and usually another one at an entry port: 40,000 descriptors and about 400 MB. An agent
 * carries 1,000 connections by default, and keeps four idle channels for each forward.
 */
export const OPEN_CHANNELS: ShareLimits = { total: 20_000, perParty: 10_000, perMember: 4096 };

/** Channel dials of one agent. After a reconnect it dials those of all its forwards at once; later it reuses channels. */
export const CHANNEL_DIALS: Rate = { perSecond: 100, burst: 5000 };

/** Agents whose dials are counted. */
const REMEMBERED = 20_000;

/** The team and agent of a channel's forward. */
export interface ChannelOwner {
  teamId: string;
  agentId: string;
}

/** The response to a refused channel upgrade. */
export interface ChannelRefusal {
  status: 429 | 503;
  retryAfterMs: number | undefined;
}

export interface ChannelLimitsOptions {
  open?: ShareLimits;
  dials?: Rate;
  counters?: Pick<Counters, 'add'> | undefined;
  /** Monotonic milliseconds. */
  monotonic: () => number;
}

/** Limits the dials and open channels of each agent, independent of its tokens. */
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

  /** Counts a channel until {@link closed} is called. @returns the refusal; undefined when it may open */
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
