import { LRUCache } from 'lru-cache';
import { TokenBucket } from '../core/token-bucket.ts';
import type { Rate } from '../core/token-bucket.ts';

const MB = 1024 * 1024;

/**
 * What one agent may have the server do, over all its tunnels. The largest honest load that was measured (test/attack/budgets.test.ts)
 * is 777 messages, 18 MB and 0.3 s of a processor that others used too: 500 routers that report after a reconnect, a table of
 * 10,000 devices and a reply of 16 MB, all at once; 2,000 open jobs add 6,000 messages. Messages and bytes have room for almost ten
 * times that, the time of the processor for five times; and in the long run an agent leaves two thirds of it to everybody else.
 */
export const AGENT_BUDGET = {
  messages: { perSecond: 5000, burst: 60_000 },
  bytes: { perSecond: 16 * MB, burst: 160 * MB },
  /** Milliseconds of the main thread. */
  work: { perSecond: 300, burst: 1500 },
  /** Messages that cannot be read, each of which a sound agent never sends. */
  offences: { perSecond: 1, burst: 100 },
  /** New tunnels. Agents dial once a second at most; several processes with one credential come to some more. */
  dials: { perSecond: 1, burst: 60 },
} as const satisfies Record<string, Rate>;

/** What a tunnel that had to be closed for good reason counts among the offences: twenty dials in a row, and the agent has to wait. */
export const CLOSED_FOR_PROTOCOL = 5;

/** The first pause of an agent that was closed for abuse, milliseconds; it doubles with each one that follows within {@link FORGIVEN_MS}. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 600_000;
const FORGIVEN_MS = 3_600_000;

/** Agents whose budget is remembered over a reconnect; about 1 kB each. */
const REMEMBERED = 20_000;

/** One agent's budget. All times are milliseconds of a clock that nobody sets. */
export class AgentBudget {
  readonly #messages: TokenBucket;
  readonly #bytes: TokenBucket;
  readonly #work: TokenBucket;
  readonly #offences: TokenBucket;
  readonly #dials: TokenBucket;
  #pauseMs = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(now: number) {
    this.#messages = new TokenBucket(AGENT_BUDGET.messages, now);
    this.#bytes = new TokenBucket(AGENT_BUDGET.bytes, now);
    this.#work = new TokenBucket(AGENT_BUDGET.work, now);
    this.#offences = new TokenBucket(AGENT_BUDGET.offences, now);
    this.#dials = new TokenBucket(AGENT_BUDGET.dials, now);
  }

  spend({ messages = 0, bytes = 0, ms = 0 }: { messages?: number; bytes?: number; ms?: number }, now: number): void {
    if (messages > 0) this.#messages.take(messages, now);
    if (bytes > 0) this.#bytes.take(bytes, now);
    if (ms > 0) this.#work.take(ms, now);
  }

  /** How long the agent must not be read, 0 while it is within its budget. */
  waitMs(now: number): number {
    return Math.max(this.#messages.waitMs(now), this.#bytes.waitMs(now), this.#work.waitMs(now));
  }

  /** @returns false when that was one too many: the tunnel has to be closed, and the agent to stay away for {@link pauseMs} */
  offend(weight: number, now: number): boolean {
    this.#offences.take(weight, now);
    if (this.#offences.waitMs(now) === 0) return true;
    if (now < this.#pausedUntil) return false;
    const isForgiven = now - this.#pausedUntil > FORGIVEN_MS;
    this.#pauseMs = isForgiven ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
    this.#pausedUntil = now + this.#pauseMs;
    return false;
  }

  /** How long the agent still has to stay away, 0 when it may dial. */
  pauseMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }

  /** Counts a dial. @returns how long the agent has to wait with it, 0 when it may come in */
  dial(now: number): number {
    const waitMs = Math.max(this.pauseMs(now), this.#dials.waitMs(now));
    if (waitMs === 0) this.#dials.take(1, now);
    return waitMs;
  }
}

/** The budgets of all agents: a reconnect does not fill one. */
export class AgentBudgets {
  readonly #byAgent = new LRUCache<string, AgentBudget>({ max: REMEMBERED });

  /** Undefined for one that has not been here lately. */
  known(agentId: string): AgentBudget | undefined {
    return this.#byAgent.get(agentId);
  }

  of(agentId: string, now: number): AgentBudget {
    const known = this.#byAgent.get(agentId);
    if (known) return known;
    const budget = new AgentBudget(now);
    this.#byAgent.set(agentId, budget);
    return budget;
  }
}
