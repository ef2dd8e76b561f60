import { LRUCache } from 'lru-cache';
import type { LogEntry, LogPosition, SharedLog } from '../../platform/bus/shared-log.ts';
import { AppError } from '../../platform/core/errors.ts';
import type { EventHistory, HistoryFollower, Missed } from './history.ts';
import { partsOf } from './history.ts';
import { REMEMBERED_TEAMS } from './own-history.ts';
import { eventText } from './ring.ts';
import { EVENT_TYPES, LOST_EVENTS } from './types.ts';
import type { Entry, EventType } from './types.ts';

/** The position before the log was read: no event has it. */
const NOWHERE: LogPosition = { origin: '-', number: 0 };
const RETRY_AFTER_MS = 2000;

/**
 * The events of several control planes: their order is that of the shared log, so that a reader goes on at any of them. An event has its place,
 * and reaches the readers of this control plane, when it comes back from the log. Numbers count the events of all teams.
 */
export class SharedHistory implements EventHistory {
  readonly #log: SharedLog;
  readonly #remembered: number;
  readonly #rings: LRUCache<string, TeamEvents>;
  #follower: HistoryFollower | undefined;
  /** Of events up to here some may be missing, of any team. */
  #base = 0;
  /** The newest event of the teams that were dropped. */
  #dropped = 0;

  /** @param remembered events of each team that can be repeated: as many as the log keeps */
  constructor(log: SharedLog, remembered: number) {
    this.#log = log;
    this.#remembered = remembered;
    this.#rings = new LRUCache({ max: REMEMBERED_TEAMS, dispose: (events) => (this.#dropped = Math.max(this.#dropped, events.newest)) });
    log.follow({ onReset: (from, entries) => this.#onReset(from, entries), onEntry: (entry) => this.#onEntry(entry, false) });
  }

  follow(follower: HistoryFollower): void {
    this.#follower = follower;
  }

  add(teamId: string, type: EventType, data: string): void {
    this.#log.append(teamId, `${type}\n${data}`);
  }

  /** Of all teams: what was read after this contains everything that came back from the log up to it. */
  position(): string {
    const { origin, number } = this.#log.position ?? NOWHERE;
    return `${origin}.${number}`;
  }

  idOf(_teamId: string, number: number): string {
    return `${(this.#log.position ?? NOWHERE).origin}.${number}`;
  }

  after(teamId: string, id: string): Missed | undefined {
    const { position } = this.#log;
    if (!position) {
      const message = 'the events of the other control planes have not been read yet; try again in a moment';
      throw new AppError('unavailable', message, { retryAfterMs: RETRY_AFTER_MS });
    }
    const at = partsOf(id);
    if (at?.origin !== position.origin) return undefined;
    const events = this.#rings.get(teamId);
    if (at.number < Math.max(this.#base, events ? events.base : this.#dropped)) return undefined;
    // Another control plane has read further than this one: what the reader has seen there comes here later.
    return { entries: events?.after(at.number) ?? [], upTo: Math.max(at.number, position.number) };
  }

  forget(): void {
    this.#base = this.#log.position?.number ?? 0;
    this.#rings.clear();
  }

  #onReset(from: LogPosition, entries: readonly LogEntry[]): void {
    this.#rings.clear();
    this.#base = from.number;
    this.#dropped = from.number;
    for (const entry of entries) this.#onEntry(entry, true);
    this.#follower?.onLoss('events were lost between the control planes');
  }

  #onEntry({ number, topic: teamId, text }: LogEntry, isPast: boolean): void {
    const [type, data] = splitOnce(text);
    let events = this.#rings.get(teamId);
    if (!events) {
      events = new TeamEvents(this.#remembered, Math.max(this.#base, this.#dropped));
      this.#rings.set(teamId, events);
    }
    if (text === LOST_EVENTS) {
      events.forget(number);
      if (!isPast) this.#follower?.onLoss('too many events waited while the connection between the control planes was away', teamId);
      return;
    }
    // Another version of the program may have more types, and whoever may use the bus can write anything.
    if (!isEventType(type) || !isObject(data)) return;
    const entry: Entry = { number, type, text: eventText(this.idOf(teamId, number), type, data) };
    events.add(entry);
    this.#follower?.onEntry(teamId, entry, data, isPast);
  }
}

/** The latest events of a team. Their numbers have gaps: those of other teams. */
class TeamEvents {
  readonly #limit: number;
  #entries: Entry[] = [];
  #base: number;
  /** Number of the newest one. */
  newest: number;

  constructor(limit: number, base: number) {
    this.#limit = limit;
    this.#base = base;
    this.newest = base;
  }

  /** Every event after this number is there. The log keeps no more than the limit either: the one before the oldest may have been dropped. */
  get base(): number {
    return this.#entries.length < this.#limit ? this.#base : this.#entries[0]!.number - 1;
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    this.newest = entry.number;
    // Trimmed in blocks, so that the cost per event does not depend on the size of the ring.
    if (this.#entries.length >= this.#limit * 2) this.#entries = this.#entries.slice(-this.#limit);
  }

  forget(upTo: number): void {
    this.#entries = [];
    this.#base = upTo;
    this.newest = upTo;
  }

  after(number: number): Entry[] {
    return this.#entries.slice(this.#entries.findLastIndex((entry) => entry.number <= number) + 1);
  }
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf('\n');
  return [text.slice(0, at), text.slice(at + 1)];
}

function isEventType(type: string): type is EventType {
  return (EVENT_TYPES as readonly string[]).includes(type);
}

function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}
