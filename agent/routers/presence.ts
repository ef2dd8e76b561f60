import { cleanText } from '../../routeros-text/router-text.ts';
import { AbsenceLog } from '../core/absence-log.ts';
import type { Clock } from '../core/clock.ts';
import { type Deadline, toError } from '../core/deadline.ts';
import { AgentError } from '../core/errors.ts';
import type { RouterFacts, RouterState } from './adapter.ts';
import type { ProbeResult, InventoryReader } from './inventory-reader.ts';
import type { Log } from '../core/log.ts';
import { RouterStateTracker } from './state-tracker.ts';
import { type KeptSession, SessionKeeper } from './session-keeper.ts';

export interface PresenceOptions<S> {
  /** Its name in the configuration. */
  router: string;
  open: (deadline: Deadline) => Promise<S>;
  reader: InventoryReader<S>;
  clock: Clock;
  random: () => number;
  log: Log;
}

/** Everything is read again this often, although a change is noticed by the ping. */
const INVENTORY_INTERVAL_MS = 24 * 60 * 60_000;

/** A reason with a number in it would be another one every time. */
const MOST_REASONS = 4;
/** Of a router's own words, which may be as long as it likes, in a line of the log. */
const LONGEST_WORDS = 300;

const TEXTS = { away: 'router unreachable', stillAway: 'router still unreachable', back: 'router reachable' };

/**
 * Whether a router is there, and what it is. Keeps one session, reads the inventory when it comes up, when the
 * ping shows a change (new identity or version, uptime gone back) and daily.
 */
export class RouterPresence<S extends KeptSession> {
  readonly #options: PresenceOptions<S>;
  readonly #tracker: RouterStateTracker;
  readonly #absence: AbsenceLog;
  readonly #keeper: SessionKeeper<S>;
  /** What of its inventory had to be cleaned when it was read last. */
  #cleaned = '';
  /** Why its inventory could not be read, since it could be the last time. */
  readonly #unreadable = new Set<string>();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(options: PresenceOptions<S>) {
    this.#options = options;
    const { clock, log, router } = options;
    this.#tracker = new RouterStateTracker(log);
    this.#absence = new AbsenceLog({ log, clock, texts: TEXTS, fields: { router } });
    this.#keeper = new SessionKeeper<S>({
      ...options,
      ping: (session, deadline) => this.#ping(session, deadline),
      events: {
        up: (session, deadline) => this.#up(session, deadline),
        down: (reason) => {
          this.#absence.away(reason);
          this.#tracker.unreachable(reason);
        },
      },
    });
  }

  get state(): RouterState {
    return this.#tracker.state;
  }

  subscribe(listener: (state: RouterState) => void): () => void {
    return this.#tracker.subscribe(listener);
  }

  start(): void {
    this.#keeper.start();
  }

  /** The session; see {@link SessionKeeper.get}. */
  get(deadline: Deadline): Promise<S> {
    return this.#keeper.get(deadline);
  }

  /** Reads everything now, connecting at once if there is no session. @throws AgentError */
  async refresh(deadline: Deadline): Promise<RouterFacts> {
    const session = await this.#keeper.getFresh(deadline);
    return this.#read(session, deadline);
  }

  close(): Promise<void> {
    return this.#keeper.stop();
  }

  /** A router whose inventory cannot be read is reachable all the same; the reason is shown. */
  async #up(session: S, deadline: Deadline): Promise<void> {
    try {
      const facts = await this.#read(session, deadline);
      this.#absence.back({ identity: facts.identity, version: facts.softwareVersion });
      this.#unreadable.clear();
    } catch (error) {
      if (!session.alive) throw error;
      const reason = cleanText(toError(error).message, LONGEST_WORDS);
      this.#logUnreadable(reason);
      this.#tracker.reachable(null, `inventory: ${reason}`);
    }
  }

  /** Once for each reason: a router may come and go with it every few seconds, and counts as away until it can be read. */
  #logUnreadable(reason: string): void {
    const { log, router } = this.#options;
    const isNew = !this.#unreadable.has(reason) && this.#unreadable.size < MOST_REASONS;
    if (isNew) this.#absence.back();
    if (isNew) this.#unreadable.add(reason);
    log[isNew ? 'warn' : 'debug']({ router, reason }, 'the inventory of the router cannot be read');
  }

  async #read(session: S, deadline: Deadline): Promise<RouterFacts> {
    const facts = await this.#options.reader.read(session, deadline);
    this.#readAt = this.#options.clock.monotonic();
    this.#logCleaned(facts);
    this.#tracker.reachable(facts);
    return facts;
  }

  /** Once for each such state: it is read again and again. */
  #logCleaned({ cleaned = [] }: RouterFacts): void {
    const properties = cleanText(cleaned.join(', '), LONGEST_WORDS);
    if (properties !== this.#cleaned && properties !== '') {
      const { log, router } = this.#options;
      log.warn({ router, properties }, 'what the router tells of itself is no text or no fact in part, and was cleaned');
    }
    this.#cleaned = properties;
  }

  async #ping(session: S, deadline: Deadline): Promise<void> {
    const probed = await this.#options.reader.probe(session, deadline);
    const { facts } = this.state;
    const due = this.#options.clock.monotonic() - this.#readAt >= INVENTORY_INTERVAL_MS;
    if (!facts || due || hasChanged(facts, probed)) await this.#read(session, deadline).catch(ignoreRefusal);
    else this.#tracker.updateUptime(probed);
  }
}

/** A reboot seen without a lost session (the clock is the router's own) shows as an uptime that went back. */
function hasChanged(facts: RouterFacts, probed: ProbeResult): boolean {
  return (
    facts.identity !== probed.identity ||
    facts.softwareVersion !== probed.softwareVersion ||
    (probed.uptimeSeconds !== null && (facts.uptimeSeconds ?? 0) > probed.uptimeSeconds)
  );
}

/** The ping itself was answered; what the inventory lacks was said when the session came up. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof AgentError) || error.code === 'outcome_unknown') throw error;
}
