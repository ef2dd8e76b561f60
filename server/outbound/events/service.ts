import { FairShares } from '../../../runtime/fair-shares.ts';
import type { Holder, ShareLimits } from '../../../runtime/fair-shares.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { AppError } from '../../platform/core/errors.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { Log } from '../../platform/core/log.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import type { EventHistory, Missed } from './history.ts';
import { OwnHistory } from './own-history.ts';
import { eventText, passingText } from './ring.ts';
import { EventStream, MAX_WAITING_BYTES } from './stream.ts';
import type { Entry, EventType, KeptStream, TeamEvent } from './types.ts';
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

/** An event that has its place in the order of its team. */
export interface PlacedEvent {
  teamId: string;
  type: EventType;
  /** Its JSON. */
  data: string;
}

interface Reader {
  subscription: Subscription;
  stream: EventStream;
  /** It has the events up to this number: another control plane may have read further than this one. */
  upTo: number;
  /** The last figures of each watched forward that this reader was sent. */
  traffic: Map<string, string>;
}

/** Publishes events about the records of a team to its readers. */
export class EventsService {
  readonly #clock: Clock;
  readonly #rules: EventRules;
  readonly #history: EventHistory;
  /** Set when this control plane serves the database alone. */
  readonly #own: OwnHistory | undefined;
  /** Every event that has its place, of whichever control plane. */
  readonly placed = new Listeners<PlacedEvent>();
  /** Events of several control planes may have been lost. */
  readonly losses = new Listeners<void>();
  readonly #readers = new Map<string, Set<Reader>>();
  /** Open streams per team, and per key or user. */
  readonly shares: FairShares;
  readonly #keepAlive: Periodic;
  #stopped = false;

  /** @param history that of several control planes; without it this one serves the database alone */
  constructor({ clock, log, rules = EVENT_RULES, history }: { clock: Clock; log: Log; rules?: EventRules; history?: EventHistory }) {
    this.#clock = clock;
    this.#rules = rules;
    this.#own = history ? undefined : new OwnHistory(rules.remembered);
    this.#history = history ?? this.#own!;
    this.#history.follow({
      onEntry: (teamId, entry, data, isPast) => {
        if (!isPast) this.#tellReaders(teamId, entry);
        this.placed.publish({ teamId, type: entry.type, data });
      },
      onLoss: (reason, teamId) => {
        this.#askToReadAgain(reason, teamId);
        this.losses.publish();
      },
    });
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
    this.#own?.restore(streams);
  }

  /**
   * The clock was set: present states keep their age, so their times differ from those that past events said. No reader can go on: each is
   * asked to read its data again.
   */
  onClockStep(): void {
    this.#history.forget();
    this.#askToReadAgain('the clock of the server was set');
  }

  /** State of the streams to store at a stop, after the last event. None of several control planes: the others go on. */
  get kept(): Omit<KeptStream, 'online'>[] {
    return this.#own?.kept ?? [];
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
    this.#history.add(teamId, type, JSON.stringify({ ...data, at: new Date(this.#clock.now()).toISOString() }));
  }

  #tellReaders(teamId: string, entry: Entry): void {
    for (const { stream, subscription, upTo } of this.#readers.get(teamId) ?? []) {
      if (entry.number > upTo && wants(subscription, entry.type)) stream.write(entry.text);
    }
  }

  /** @param teamId all teams without it */
  #askToReadAgain(reason: string, teamId?: string): void {
    const told = teamId === undefined ? this.#readers : new Map([[teamId, this.#readers.get(teamId) ?? new Set<Reader>()]]);
    for (const [team, readers] of told) {
      const text = eventText(this.position(team), RESYNC, JSON.stringify({ reason }));
      for (const reader of readers) {
        reader.upTo = 0;
        reader.stream.write(text);
      }
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
    return this.#history.position(teamId);
  }

  /**
   * Opens a stream that continues after the reader's last event.
   * @throws AppError `conflict` when the caller or the team has too many streams; `unavailable` when the server has too many,
   *   at shutdown, and before the events of the other control planes have been read
   */
  open(subscription: Subscription): EventStream {
    if (this.#stopped) throw new AppError('unavailable', 'the server is stopping; try again in a moment');
    const { teamId, callerId, lastEventId } = subscription;
    const missed = this.#history.after(teamId, lastEventId ?? this.position(teamId));
    const holder = { party: teamId, member: callerId };
    this.#takeShare(holder);
    const stream = new EventStream();
    const reader: Reader = { subscription, stream, upTo: 0, traffic: new Map<string, string>() };
    const readers = this.#readers.get(teamId) ?? new Set();
    this.#readers.set(teamId, readers.add(reader));
    stream.once('close', () => {
      readers.delete(reader);
      if (readers.size === 0) this.#readers.delete(teamId);
      this.shares.giveBack(holder);
    });
    this.#catchUp(reader, missed);
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

  #catchUp(reader: Reader, missed: Missed | undefined): void {
    const { subscription, stream } = reader;
    const { teamId } = subscription;
    const wanted = missed?.entries.filter(({ type }) => wants(subscription, type));
    // More than a stream holds would end it before it begins, again and again.
    if (!missed || !wanted || lengthOf(wanted) > MAX_WAITING_BYTES / 2) {
      const reason = wanted ? 'there were too many events since the last id' : 'the events since the last id are no longer known';
      stream.write(eventText(this.position(teamId), RESYNC, JSON.stringify({ reason })));
      return;
    }
    reader.upTo = missed.upTo;
    for (const { text } of wanted) stream.write(text);
    // An id without data is not an event. It tells a reader that is cut off before the first event where to resume.
    stream.write(`id: ${this.#history.idOf(teamId, missed.upTo)}\n\n`);
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
