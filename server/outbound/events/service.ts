import { LRUCache } from 'lru-cache';
import { FairShares } from '../../../runtime/fair-shares.ts';
import type { Holder, ShareLimits } from '../../../runtime/fair-shares.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { AppError } from '../../platform/core/errors.ts';
import { newSecret } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import { EventRing, eventText, passingText } from './ring.ts';
import { EventStream, MAX_WAITING_BYTES } from './stream.ts';
import type { EventType, KeptStream, TeamEvent } from './types.ts';
import { RESYNC } from './types.ts';

export interface EventRules {
  /** Open streams: in total, per team, and per key or user. */
  streams: ShareLimits;
  /** Number of events per team that can be repeated, at least. */
  remembered: number;
  /** Interval of comments on idle streams and of permission checks, milliseconds. */
  heartbeatMs: number;
}

export const EVENT_RULES: EventRules = {
  // Per caller: one for each place where a program runs, plus some dead ones that are about to be detected. An unread stream
  // may hold 256 KiB: 25 MB per team; the total fits a small machine.
  streams: { total: 2000, perParty: 100, perMember: 5 },
  // Covers half a minute of disconnection for a smaller team while its routers come and go; 300 bytes each.
  remembered: 1000,
  // Proxies close connections that are idle for 60 s, some for 30 s.
  heartbeatMs: 15_000,
};

/** Events stored at a stop: about 15 MB, and a second of work. The most recently active teams come first. */
const KEPT_EVENTS = 50_000;
/** Teams whose latest events are kept. The team that was idle longest is dropped first: its readers then resync. */
const REMEMBERED_TEAMS = 1000;
const ORIGIN_CHARS = 8;
/** Time after which abandoned streams may have ended. */
const RETRY_AFTER_MS = 30_000;

export interface Subscription {
  teamId: string;
  /** Id of the key or user. */
  callerId: string;
  lastEventId: string | undefined;
  /** Event types to receive; all when empty. */
  types: readonly EventType[];
  /** Ids of forwards whose traffic this reader wants to see. */
  watched?: readonly string[] | undefined;
  /** Checked regularly: a key may be revoked while its stream is open. */
  isStillAllowed: () => Promise<boolean>;
}

interface Reader {
  subscription: Subscription;
  stream: EventStream;
  /** The last figures of each watched forward that this reader was sent. */
  traffic: Map<string, string>;
}

/** Publishes events about the records of a team to its readers. */
export class EventsService {
  readonly #clock: Clock;
  readonly #rules: EventRules;
  readonly #rings = new LRUCache<string, EventRing>({ max: REMEMBERED_TEAMS });
  readonly #readers = new Map<string, Set<Reader>>();
  /** Open streams per team, and per key or user. */
  readonly shares: FairShares;
  readonly #keepAlive: Periodic;
  #stopped = false;

  constructor({ clock, log, rules = EVENT_RULES }: { clock: Clock; log: Log; rules?: EventRules }) {
    this.#clock = clock;
    this.#rules = rules;
    this.#keepAlive = new Periodic({
      clock,
      log,
      everyMs: rules.heartbeatMs,
      failure: 'keep-alive comments could not be sent to event streams',
      run: () => this.#sendKeepAlive(),
    });
    this.shares = new FairShares(rules.streams);
  }

  /** Continues where a previous process stopped. Call it before events are published or streams opened. */
  restore(streams: readonly KeptStream[]): void {
    // The most recently used team comes first and must be dropped last.
    for (const { teamId, origin, ...past } of streams.toReversed())
      this.#rings.set(teamId, new EventRing(origin, this.#rules.remembered, past));
  }

  /**
   * The clock was set: present states keep their age, so their times differ from those that past events said. No reader can go on: each is
   * asked to read its data again.
   */
  onClockStep(): void {
    this.#rings.clear();
    for (const [teamId, readers] of this.#readers)
      for (const { stream } of readers)
        stream.write(eventText(this.position(teamId), RESYNC, { reason: 'the clock of the server was set' }));
  }

  /** State of the streams to store at a stop, after the last event. */
  get kept(): Omit<KeptStream, 'online'>[] {
    const streams: Omit<KeptStream, 'online'>[] = [];
    let room = KEPT_EVENTS;
    for (const [teamId, ring] of this.#rings.entries()) {
      const { kept } = ring;
      room -= kept.entries.length;
      if (room >= 0) streams.push({ teamId, ...kept });
    }
    return streams;
  }

  start(): void {
    this.#keepAlive.start();
  }

  /** Ends every stream; readers reconnect to the next process. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const stopping = this.#keepAlive.stop();
    for (const readers of this.#readers.values()) for (const { stream } of readers) stream.finish();
    await stopping;
  }

  /** Checks at once whether the readers of a team are still allowed, after a right was revoked. */
  async recheck(teamId: string): Promise<void> {
    await Promise.all([...(this.#readers.get(teamId) ?? [])].map((reader) => this.#check(reader)));
  }

  /** Number of open streams. */
  get openStreams(): number {
    return this.shares.taken;
  }

  publish({ teamId, type, data }: TeamEvent): void {
    const entry = this.#ringOf(teamId).add(type, { ...data, at: new Date(this.#clock.now()).toISOString() });
    for (const { stream, subscription } of this.#readers.get(teamId) ?? []) {
      if (wants(subscription, type)) stream.write(entry.text);
    }
  }

  /** Forwards that readers want to see the traffic of, by team. */
  watchedForwards(): Map<string, string[]> {
    const watched = new Map<string, string[]>();
    for (const [teamId, readers] of this.#readers) {
      const ids = new Set([...readers].flatMap(({ subscription }) => subscription.watched ?? []));
      if (ids.size > 0) watched.set(teamId, [...ids]);
    }
    return watched;
  }

  /**
   * Sends the traffic of a forward to those who watch it, unless they have these figures. Figures have no position: they are never
   * repeated, because newer ones take their place, and they push no other event out of the memory.
   */
  tellWatchers(teamId: string, forwardId: string, figures: Record<string, unknown>): void {
    const text = JSON.stringify(figures);
    const type = 'forward.traffic';
    const at = new Date(this.#clock.now()).toISOString();
    for (const { stream, subscription, traffic } of this.#readers.get(teamId) ?? []) {
      const isNews = traffic.get(forwardId) !== text;
      if (!isNews || !subscription.watched?.includes(forwardId) || !wants(subscription, type)) continue;
      traffic.set(forwardId, text);
      stream.write(passingText(type, { ...figures, at }));
    }
  }

  /**
   * Id of the team's newest event. Data read after this call includes all events up to that id, so a client that
   * reads it and then listens from there misses nothing.
   */
  position(teamId: string): string {
    return this.#ringOf(teamId).position;
  }

  /**
   * Opens a stream that continues after the reader's last event.
   * @throws AppError `conflict` when the caller or the team has too many streams; `unavailable` when the server has too many,
   *   and at shutdown
   */
  open(subscription: Subscription): EventStream {
    if (this.#stopped) throw new AppError('unavailable', 'the server is stopping; try again in a moment');
    const { teamId, callerId } = subscription;
    const holder = { party: teamId, member: callerId };
    this.#takeShare(holder);
    const stream = new EventStream();
    const reader = { subscription, stream, traffic: new Map<string, string>() };
    const readers = this.#readers.get(teamId) ?? new Set();
    this.#readers.set(teamId, readers.add(reader));
    stream.once('close', () => {
      readers.delete(reader);
      if (readers.size === 0) this.#readers.delete(teamId);
      this.shares.giveBack(holder);
    });
    this.#catchUp(reader);
    return stream;
  }

  #takeShare(holder: Holder): void {
    const limit = this.shares.limitFor(holder);
    if (this.shares.take(holder)) return;
    const { perParty, perMember } = this.#rules.streams;
    if (limit === 'total') throw new AppError('unavailable', 'the server has no free event streams', { retryAfterMs: RETRY_AFTER_MS });
    const whose =
      limit === 'member'
        ? `this key already has its ${perMember} open event streams`
        : `the team already has its ${perParty} open event streams`;
    throw new AppError('conflict', whose);
  }

  #catchUp({ subscription, stream }: Reader): void {
    const ring = this.#ringOf(subscription.teamId);
    const { lastEventId } = subscription;
    const missed = lastEventId === undefined ? [] : ring.after(lastEventId)?.filter(({ type }) => wants(subscription, type));
    // More than a stream holds would end it before it begins, again and again.
    if (missed === undefined || lengthOf(missed) > MAX_WAITING_BYTES / 2) {
      const reason = missed ? 'there were too many events since the last id' : 'the events since the last id are no longer known';
      stream.write(eventText(ring.position, RESYNC, { reason }));
      return;
    }
    for (const { text } of missed) stream.write(text);
    // An id without data is not an event. It tells a reader that is cut off before the first event where to resume.
    stream.write(`id: ${ring.position}\n\n`);
  }

  #ringOf(teamId: string): EventRing {
    let ring = this.#rings.get(teamId);
    if (!ring) {
      ring = new EventRing(newSecret(ORIGIN_CHARS), this.#rules.remembered);
      this.#rings.set(teamId, ring);
    }
    return ring;
  }

  async #sendKeepAlive(): Promise<void> {
    for (const reader of [...this.#readers.values()].flatMap((readers) => [...readers])) {
      if (await this.#check(reader)) reader.stream.write(':\n\n');
    }
  }

  /** Ends the stream of a reader who is no longer allowed. A failed check is repeated at the next keep-alive. */
  async #check({ subscription, stream }: Reader): Promise<boolean> {
    const allowed = await subscription.isStillAllowed().catch(() => true);
    if (!allowed) stream.finish();
    return allowed;
  }
}

function lengthOf(entries: readonly { text: string }[]): number {
  return entries.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
}

function wants({ types }: Subscription, type: EventType): boolean {
  return types.length === 0 || types.includes(type);
}
