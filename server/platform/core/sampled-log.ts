import type { Clock } from './clock.ts';
import type { Log, LogFields } from './log.ts';

type Level = 'info' | 'warn' | 'error';

/** How many lines a message may cost in a minute. */
export interface LogBounds {
  /** Written in full about one peer: enough to see what it is about. */
  perPeer: number;
  /** Written in full whoever causes them: a thousand peers of one attacker are no reason for a thousand times as many. */
  perMessage: number;
}

/** A message costs at most some 12 kB a minute. */
const DEFAULT_BOUNDS: LogBounds = { perPeer: 3, perMessage: 30 };
const PERIOD_MS = 60_000;
/** Messages and peers told apart in one period; further peers count together. */
const MOST_KEYS = 1000;

/**
 * A log that a peer cannot fill: of each message the first lines about a peer are written, and at the end of the minute how many
 * more there were. Debug lines pass as they are: who turns them on wants to see everything.
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
  /** Not written. */
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

/** The log as a peer may cause lines in it. Messages are fixed texts; what differs belongs into the fields. */
export function sampledLog(log: Log, clock: Clock, bounds: LogBounds = DEFAULT_BOUNDS): Log {
  return new SampledLog(log, new Samples(clock, bounds));
}
