import type { Clock } from './clock.ts';
import type { Log, LogFields } from './log.ts';

type Level = 'info' | 'warn' | 'error';

/** How many lines a message may cause in a minute. */
export interface LogBounds {
  /** Full lines per peer: enough to diagnose it. */
  perPeer: number;
  /** Full lines over all peers: an attacker with a thousand peers must not cause a thousand times as many. */
  perMessage: number;
}

/** A message takes at most about 12 kB a minute. */
const DEFAULT_BOUNDS: LogBounds = { perPeer: 3, perMessage: 30 };
const PERIOD_MS = 60_000;
/** Messages and peers tracked in one period; further peers are counted together. */
const MOST_KEYS = 1000;

/**
 * A log that a peer cannot flood: writes the first lines of each message about a peer, and at the end of the minute the number
 * of suppressed lines. Debug lines are not sampled.
 */
class SampledLog implements Log {
  readonly #log: Log;
  readonly #samples: Samples;

  constructor(log: Log, samples: Samples) {
    this.#log = log;
    this.#samples = samples;
  }

  debug(fields: LogFields, message: string): void {
    this.#log.debug(fields, message);
  }

  info(fields: LogFields, message: string): void {
    this.#samples.write(this.#log, 'info', fields, message);
  }

  warn(fields: LogFields, message: string): void {
    this.#samples.write(this.#log, 'warn', fields, message);
  }

  error(fields: LogFields, message: string): void {
    this.#samples.write(this.#log, 'error', fields, message);
  }

  /** Counted together with its parent: there is one child for each HTTP request. */
  child(fields: LogFields): Log {
    return new SampledLog(this.#log.child(fields), this.#samples);
  }
}

interface Repeated {
  log: Log;
  level: Level;
  message: string;
  written: number;
  /** Suppressed lines. */
  left: number;
}

class Samples {
  readonly #clock: Clock;
  readonly #bounds: LogBounds;
  readonly #byPeer = new Map<string, Repeated>();
  readonly #byMessage = new Map<string, Repeated>();
  #endsPeriod = false;

  constructor(clock: Clock, bounds: LogBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  write(log: Log, level: Level, fields: LogFields, message: string): void {
    this.#beginPeriod();
    const all = entryOf(this.#byMessage, message, { log, level, message });
    const peer = fields.agent_id ?? fields.team_id ?? fields.source ?? fields.router_id ?? '';
    const key = this.#byPeer.size < MOST_KEYS ? `${message} ${peer}` : message;
    const own = entryOf(this.#byPeer, key, { log, level, message });
    if (own.written >= this.#bounds.perPeer || all.written >= this.#bounds.perMessage) {
      all.left += 1;
      return;
    }
    own.written += 1;
    all.written += 1;
    log[level](fields, message);
  }

  #beginPeriod(): void {
    if (this.#endsPeriod) return;
    this.#endsPeriod = true;
    this.#clock.setTimeout(() => this.#endPeriod(), PERIOD_MS);
  }

  #endPeriod(): void {
    this.#endsPeriod = false;
    for (const { log, level, message, left } of this.#byMessage.values()) {
      if (left > 0) log[level]({ count: left }, `more of these in the last minute: ${message}`);
    }
    this.#byMessage.clear();
    this.#byPeer.clear();
  }
}

function entryOf(entries: Map<string, Repeated>, key: string, line: Pick<Repeated, 'log' | 'level' | 'message'>): Repeated {
  const known = entries.get(key);
  if (known) return known;
  const entry = { ...line, written: 0, left: 0 };
  entries.set(key, entry);
  return entry;
}

/** A log for lines that peers can cause. Messages must be fixed texts; variable parts belong in the fields. */
export function sampledLog(log: Log, clock: Clock, bounds: LogBounds = DEFAULT_BOUNDS): Log {
  return new SampledLog(log, new Samples(clock, bounds));
}
