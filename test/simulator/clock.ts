import { parseDate, parseDuration } from './formats.ts';
import type { TimeSource } from './time.ts';

const DAY_MS = 86_400_000;
/** What a router without a battery believes after power-on: 1970-01-02 00:00. */
const UNSET_START_MS = DAY_MS;

/** The router's own clock and uptime, on top of the time source. */
export class RouterClock {
  readonly #time: TimeSource;
  readonly #losesTime: boolean;
  #offsetMs: number;
  #bootedAt: number;
  timeZone: string;
  /** Called whenever the clock is set. */
  onSet: (() => void) | undefined;

  constructor(time: TimeSource, options: { clock: string | undefined; timeZone: string; uptimeMs: number }) {
    this.#time = time;
    this.timeZone = options.timeZone;
    this.#losesTime = options.clock === 'unset';
    this.#bootedAt = time.now() - (this.#losesTime ? 0 : options.uptimeMs);
    this.#offsetMs = this.#losesTime ? UNSET_START_MS - time.now() : startOffset(options.clock, time.now());
  }

  now(): number {
    return this.#time.now();
  }

  /** What the router takes for the present moment, as milliseconds since 1970 UTC. */
  utcMs(): number {
    return this.#time.now() + this.#offsetMs;
  }

  gmtOffsetMs(): number {
    return zoneOffsetMs(this.timeZone, this.utcMs());
  }

  /** Local time as the router shows it; format with UTC getters. */
  wallMs(): number {
    return this.utcMs() + this.gmtOffsetMs();
  }

  /** How far a wall time of the router lies ahead, in milliseconds. */
  untilWall(wallMs: number): number {
    return wallMs - this.wallMs();
  }

  uptimeMs(): number {
    return this.#time.now() - this.#bootedAt;
  }

  /** Sets the router's idea of now (NTP, an administrator, a test). */
  setUtc(utcMs: number): void {
    this.#offsetMs = utcMs - this.#time.now();
    this.onSet?.();
  }

  /** `date` and `time` as typed; false when one of them cannot be read. */
  setWall(date: string | undefined, time: string | undefined): boolean {
    const wall = this.wallMs();
    const day = date === undefined ? Math.floor(wall / DAY_MS) * DAY_MS : parseDate(date);
    const clock = time === undefined ? wall % DAY_MS : parseDuration(time);
    if (day === undefined || clock === undefined || clock >= DAY_MS) return false;
    this.setUtc(day + clock - this.gmtOffsetMs());
    return true;
  }

  /** Uptime starts again; a router without NTP or battery is back in 1970. */
  reboot(): void {
    this.#bootedAt = this.#time.now();
    if (this.#losesTime) this.#offsetMs = UNSET_START_MS - this.#time.now();
  }
}

function startOffset(clock: string | undefined, now: number): number {
  if (clock === undefined) return 0;
  const at = Date.parse(clock);
  if (Number.isNaN(at)) throw new RangeError(`clock must be an ISO time or 'unset': ${clock}`);
  return at - now;
}

/** Offset of a zone name from UTC at that moment; 0 for an unknown zone, as RouterOS's `manual` has no rules either. */
export function zoneOffsetMs(zone: string, utcMs: number): number {
  if (zone === 'UTC' || zone === 'manual') return 0;
  try {
    const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'longOffset' });
    const name = format.formatToParts(new Date(utcMs)).find((part) => part.type === 'timeZoneName')?.value ?? '';
    const match = /([+-])(\d{2}):(\d{2})/.exec(name);
    return match ? (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) * 60_000 : 0;
  } catch {
    return 0;
  }
}
