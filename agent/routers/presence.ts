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
  /** The router's name in the configuration. */
  router: string;
  open: (deadline: Deadline) => Promise<S>;
  reader: InventoryReader<S>;
  clock: Clock;
  random: () => number;
  log: Log;
}

/** How often to read the full inventory, in milliseconds, besides reading it when a probe shows a change. */
const INVENTORY_INTERVAL_MS = 24 * 60 * 60_000;

/** Limit of reasons logged as warnings: a reason with a number in it would be new every time. */
const MOST_REASONS = 4;
/** Characters of a router's own text in a log line. */
const LONGEST_WORDS = 300;

const TEXTS = { away: 'router unreachable', stillAway: 'router still unreachable', back: 'router reachable' };

/**
 * A router's reachability and facts. Keeps one session open. Reads the inventory when the session opens, when a probe shows a change
 * (new identity or version, decreased uptime), and daily.
 */
export class RouterPresence<S extends KeptSession> {
  readonly #options: PresenceOptions<S>;
  readonly #tracker: RouterStateTracker;
  readonly #absence: AbsenceLog;
  readonly #keeper: SessionKeeper<S>;
  /** Properties that were cleaned in the last inventory. */
  #cleaned = '';
  /** Reasons why the inventory could not be read since the last success. */
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
        down: (reason, code, silentSince) => {
          this.#absence.away(reason);
          this.#tracker.unreachable(reason, code, silentSince);
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

  /** Reads the inventory now, connecting at once if there is no session. @throws AgentError */
  async refresh(deadline: Deadline): Promise<RouterFacts> {
    const session = await this.#keeper.getFresh(deadline);
    return this.#read(session, deadline);
  }

  close(): Promise<void> {
    return this.#keeper.stop();
  }

  /** A router whose inventory cannot be read still counts as reachable, with the reason. */
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

  /** Logs each reason once, because a router may reconnect every few seconds. The outage ends with the first one. */
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

  /** Logs each set of cleaned properties once, although the inventory is read repeatedly. */
  #logCleaned({ cleaned = [] }: RouterFacts): void {
    const properties = cleanText(cleaned.join(', '), LONGEST_WORDS);
    if (properties !== this.#cleaned && properties !== '') {
      const { log, router } = this.#options;
      log.warn({ router, properties }, 'the inventory of the router has invalid text or values, which were cleaned');
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

/** A decreased uptime shows a reboot, even if the session survived. */
function hasChanged(facts: RouterFacts, probed: ProbeResult): boolean {
  return (
    facts.identity !== probed.identity ||
    facts.softwareVersion !== probed.softwareVersion ||
    (probed.uptimeSeconds !== null && (facts.uptimeSeconds ?? 0) > probed.uptimeSeconds)
  );
}

/** Ignores refusals: the router answered, and the error was logged when the session opened. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof AgentError) || error.code === 'outcome_unknown') throw error;
}
