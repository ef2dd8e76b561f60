import type { AgentMessage } from '../../protocol/index.ts';
import { sleep } from '../core/clock.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/deadline.ts';
import type { Log } from '../core/log.ts';
import type { Routers } from '../core/routers.ts';
import type { RouterAdapter, RouterState } from '../routers/adapter.ts';
import { computeDelta, deltaMessages, fullMessages, NO_CHANGE } from './device-delta.ts';
import type { ReportedDevices } from './device-delta.ts';
import type { DeviceTable } from './device-table.ts';
import { RouterReader } from './read-router.ts';

export type CollectorMessage = Extract<AgentMessage, { type: 'health' | 'devices' }>;

export interface CollectorOptions {
  routers: Routers;
  /** @returns false when it was not sent; the collector then sends the full list again */
  send: (message: CollectorMessage) => boolean;
  clock: Clock;
  /** 0 to 1, for the jitter. */
  random: () => number;
  log: Log;
  /** How often to read each router, in milliseconds. Default: a minute. */
  everyMs?: number | undefined;
}

export interface Collector {
  start(): void;
  /** The tunnel is ready: reports all devices again. */
  onReady(): void;
  /** The tunnel is gone: stops reading. */
  onDown(): void;
  /** Ends the current readings. */
  stop(): Promise<void>;
}

const EVERY_MS = 60_000;
/** Spread of the first readings, in milliseconds per router. */
const SPREAD_MS = 100;
const LONGEST_SPREAD_MS = 20_000;
/** Largest share of a router's time for readings: a large ARP table on a slow board is read less often. */
const SHARE = 1 / 50;
const RARELY_MS = 15 * 60_000;
/** Shortest interval of log lines about cleaned values, in milliseconds. */
const LOG_CLEANED_EVERY_MS = 60 * 60_000;
/** Wait before the first reading after a change, in milliseconds, because changes come in groups. */
const SETTLE_MS = 200;

type Cleaned = 'names or addresses of devices' | 'names or words of sensors, ports or disks';

/** Reads the health and devices of every router at intervals: routers independently, one menu of a router at a time. */
export function createCollector(options: CollectorOptions): Collector {
  const collectors = [...options.routers.values()].map((router) => new RouterCollector(router, options));
  const each = (work: (collector: RouterCollector) => void): void => {
    for (const collector of collectors) work(collector);
  };
  const spreadMs = Math.min(LONGEST_SPREAD_MS, collectors.length * SPREAD_MS);
  return {
    start: () => each((collector) => collector.start()),
    onReady: () => each((collector) => collector.onReady(options.random() * spreadMs)),
    onDown: () => each((collector) => collector.onDown()),
    stop: async () => {
      await Promise.all(collectors.map((collector) => collector.stop()));
    },
  };
}

/**
 * One router's readings. Invariants: at most one menu of the router is being read; `#reported` is what was sent on the current
 * tunnel, undefined until the full list was sent.
 */
class RouterCollector {
  readonly #router: RouterAdapter;
  readonly #options: CollectorOptions;
  readonly #stopping = new AbortController();
  /** Ends the current wait. */
  #wake = new AbortController();
  #reader: RouterReader;
  #hardwareId: string | undefined;
  #reported: ReportedDevices | undefined;
  /** Total number of devices, when not all were reported. */
  #reportedTotal: number | undefined;
  #connected = false;
  /** Raised with every new tunnel or device, so that a reading for an older one is not reported. */
  #round = 0;
  #wasReachable = false;
  #devicesDueAt = 0;
  /** Time of the next log line, by the kind of cleaned values. */
  readonly #logCleanedAt = new Map<Cleaned, number>();
  #waitMs = SETTLE_MS;
  #loop: Promise<void> | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(router: RouterAdapter, options: CollectorOptions) {
    this.#router = router;
    this.#options = options;
    this.#reader = new RouterReader(router, options.clock);
  }

  start(): void {
    this.#unsubscribe ??= this.#router.onState((state) => this.#onState(state));
    this.#onState(this.#router.state());
    this.#loop ??= this.#run();
  }

  onReady(delayMs: number): void {
    this.#connected = true;
    this.#reportAllAgain();
    this.#readAfter(SETTLE_MS + delayMs);
  }

  onDown(): void {
    this.#connected = false;
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    this.#stopping.abort();
    await this.#loop;
  }

  #onState({ reachable, facts }: RouterState): void {
    const isBack = reachable && !this.#wasReachable;
    this.#wasReachable = reachable;
    const isOther = reachable && facts !== null && facts.hardwareId !== this.#hardwareId;
    if (isOther) {
      this.#hardwareId = facts.hardwareId;
      this.#reader = new RouterReader(this.#router, this.#options.clock);
      this.#reportAllAgain();
    }
    if (isOther || isBack) this.#readAfter(SETTLE_MS);
  }

  /** Sends the full list next. The result of a running reading is not reported. */
  #reportAllAgain(): void {
    this.#reported = undefined;
    this.#round += 1;
  }

  #readAfter(waitMs: number): void {
    this.#devicesDueAt = 0;
    this.#waitMs = waitMs;
    this.#wake.abort();
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const wake = this.#wake.signal;
      await sleep(clock, this.#waitMs, AbortSignal.any([wake, signal]));
      // Woken up: the wait has changed.
      if (wake.aborted) continue;
      this.#waitMs = this.#regularWait();
      if (this.#mayRead()) await this.#read(signal);
    }
  }

  #regularWait(): number {
    const { random, everyMs = EVERY_MS } = this.#options;
    return everyMs * (0.9 + 0.2 * random());
  }

  #mayRead(): boolean {
    const { reachable, facts } = this.#router.state();
    return this.#connected && reachable && facts !== null && !this.#stopping.signal.aborted;
  }

  /** Never rejects: the router layer handles unreachable routers. */
  async #read(signal: AbortSignal): Promise<void> {
    try {
      await this.#readHealth(signal);
      if (this.#options.clock.monotonic() >= this.#devicesDueAt) await this.#readDevices(signal);
    } catch (error) {
      this.#options.log.debug({ err: toError(error), router: this.#router.name }, 'router could not be read');
    }
  }

  async #readHealth(signal: AbortSignal): Promise<void> {
    const readings = await this.#reader.readHealth(signal);
    this.#logCleaned('names or words of sensors, ports or disks', this.#reader.uncleanHealth);
    this.#options.send({ type: 'health', router: this.#router.name, readings });
  }

  async #readDevices(signal: AbortSignal): Promise<void> {
    const { clock, everyMs = EVERY_MS } = this.#options;
    const round = this.#round;
    const startedAt = clock.monotonic();
    const table = await this.#reader.readDevices(signal);
    this.#logCleaned('names or addresses of devices', this.#reader.uncleanDevices);
    // The tunnel or the device has changed meanwhile; a new reading follows at once.
    if (round !== this.#round) return;
    const took = clock.monotonic() - startedAt;
    // A little less than the regular wait, so that its jitter does not skip a round.
    this.#devicesDueAt = startedAt + Math.min(RARELY_MS, Math.max(everyMs * 0.8, took / SHARE));
    if (table) this.#report(table, clock.now() / 1000, this.#reader.devicesInAll);
  }

  /** Logs at most once an hour, because the router is read every minute. */
  #logCleaned(what: Cleaned, count: number): void {
    const { clock, log } = this.#options;
    if (count === 0 || clock.monotonic() < (this.#logCleanedAt.get(what) ?? Number.NEGATIVE_INFINITY)) return;
    this.#logCleanedAt.set(what, clock.monotonic() + LOG_CLEANED_EVERY_MS);
    log.warn({ router: this.#router.name, count }, `${what} had invalid text or values, and were cleaned`);
  }

  /** @param total number of devices, when the table does not hold them all */
  #report(table: DeviceTable, now: number, total: number | undefined): void {
    const before = this.#reported;
    const delta = computeDelta(before ?? new Map(), table, now);
    const messages = before ? deltaMessages(delta) : fullMessages(table);
    // A total that appears or disappears is a change; its exact value is sent with the next one.
    const isChanged = before !== undefined && (total === undefined) !== (this.#reportedTotal === undefined);
    if (messages.length === 0 && isChanged) messages.push(NO_CHANGE);
    const more = total === undefined ? {} : { total };
    const sent = messages.every((message) => this.#options.send({ type: 'devices', router: this.#router.name, ...message, ...more }));
    if (sent && messages.length > 0) this.#reportedTotal = total;
    // It is unknown which messages were lost: the full list is sent next time.
    this.#reported = sent ? delta.reported : undefined;
  }
}
