import { LRUCache } from 'lru-cache';
import { TokenBucket } from '../core/token-bucket.ts';
import type { Rate } from '../core/token-bucket.ts';

const MB = 1024 * 1024;

/**
 * Rate limits of one agent over all its tunnels. The largest honest load that was measured (test/attack/budgets.test.ts) is 777
 * messages, 18 MB and 0.3 s of a shared processor: 500 routers that report after a reconnect, a table of 10,000 devices and a reply
 * of 16 MB, all at once; 2,000 open jobs add 6,000 messages. Messages and bytes allow almost ten times that, processor time five
 * times; in the long run an agent leaves two thirds of the processor to others.
 */
export const AGENT_BUDGET = {
  messages: { perSecond: 5000, burst: 60_000 },
  bytes: { perSecond: 16 * MB, burst: 160 * MB },
  /** Milliseconds of the main thread. */
  work: { perSecond: 300, burst: 1500 },
  /** Unreadable messages, which a correct agent never sends. */
  offences: { perSecond: 1, burst: 100 },
  /** New tunnels. An agent dials at most once a second; several processes with one credential dial more often. */
  dials: { perSecond: 1, burst: 60 },
} as const satisfies Record<string, Rate>;

/** Weight of a protocol violation that closed the tunnel: after twenty in a row, the agent has to wait. */
export const CLOSED_FOR_PROTOCOL = 5;

/** The first pause after a close for abuse, milliseconds; doubles with each further one within {@link FORGIVEN_MS}. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 600_000;
const FORGIVEN_MS = 3_600_000;

/** Agents whose budget survives a reconnect; about 1 kB each. */
const REMEMBERED = 20_000;

/** One agent's budget. All times are monotonic milliseconds. */
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

  /** How long reading from the agent must pause, 0 while it is within its budget. */
  waitMs(now: number): number {
    return Math.max(this.#messages.waitMs(now), this.#bytes.waitMs(now), this.#work.waitMs(now));
  }

  /** @returns false when the limit is exceeded: close the tunnel and keep the agent away for {@link pauseMs} */
  offend(weight: number, now: number): boolean {
    this.#offences.take(weight, now);
    if (this.#offences.waitMs(now) === 0) return true;
    if (now < this.#pausedUntil) return false;
    const isForgiven = now - this.#pausedUntil > FORGIVEN_MS;
    this.#pauseMs = isForgiven ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
    this.#pausedUntil = now + this.#pauseMs;
    return false;
  }

  /** How long the agent may not dial, 0 when it may. */
  pauseMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }

  /** Counts a dial. @returns how long the agent has to wait before it may dial, 0 when the dial is accepted */
  dial(now: number): number {
    const waitMs = Math.max(this.pauseMs(now), this.#dials.waitMs(now));
    if (waitMs === 0) this.#dials.take(1, now);
    return waitMs;
  }
}

/** The budgets of all agents; a reconnect does not refill one. */
export class AgentBudgets {
  readonly #byAgent = new LRUCache<string, AgentBudget>({ max: REMEMBERED });

  /** Undefined for an agent without a recent tunnel. */
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
