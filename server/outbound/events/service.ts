import { LRUCache } from 'lru-cache';
import { FairShares } from '../../../runtime/fair-shares.ts';
import type { Holder, ShareLimits } from '../../../runtime/fair-shares.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { AppError } from '../../platform/core/errors.ts';
import { newSecret } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import { EventRing, eventText } from './ring.ts';
import { EventStream } from './stream.ts';
import type { EventType, KeptStream, TeamEvent } from './types.ts';
import { RESYNC } from './types.ts';

export interface EventRules {
  /** Streams open at the same time: all together, of a team, and of one key or user. */
  streams: ShareLimits;
  /** At least so many events of a team can be repeated. */
  remembered: number;
  /** How often a silent stream says something, and callers are checked again, milliseconds. */
  heartbeatMs: number;
}

export const EVENT_RULES: EventRules = {
  // Of a caller one for each place where a program runs, and some that are about to be noticed as dead. One that is not read
  // may hold 256 KiB: 25 MB for a team, and for all together no more than a small machine has.
  streams: { total: 2000, perParty: 100, perMember: 5 },
  // Half a minute away while 10,000 routers come and go loses nothing of a smaller team; at 300 bytes each.
  remembered: 1000,
  // Proxies cut what is silent for 60 s, some for 30 s.
  heartbeatMs: 15_000,
};

/** Events written down at a stop: about 15 MB, and a second of work. Of the teams, those that were busy last. */
const KEPT_EVENTS = 50_000;
/** Teams whose latest events are kept. The one that was silent longest is forgotten first: its readers then resync. */
const REMEMBERED_TEAMS = 1000;
const ORIGIN_CHARS = 8;
/** When streams may have ended that nobody reads any more. */
const RETRY_AFTER_MS = 30_000;

export interface Subscription {
  teamId: string;
  /** Id of the key or user. */
  callerId: string;
  lastEventId: string | undefined;
  /** Kinds wanted; all when empty. */
  types: readonly EventType[];
  /** Asked now and then: a key may be revoked while its stream is open. */
  isStillAllowed: () => Promise<boolean>;
}

interface Reader {
  subscription: Subscription;
  stream: EventStream;
}

/** Tells readers what happens to the records of their team, as it happens. */
export class EventsService {
  readonly #clock: Clock;
  readonly #rules: EventRules;
  readonly #rings = new LRUCache<string, EventRing>({ max: REMEMBERED_TEAMS });
  readonly #readers = new Map<string, Set<Reader>>();
  /** Open streams: of teams, and of their keys and users. */
  readonly shares: FairShares;
  readonly #beats: Periodic;
  #stopped = false;

  constructor({ clock, log, rules = EVENT_RULES }: { clock: Clock; log: Log; rules?: EventRules }) {
    this.#clock = clock;
    this.#rules = rules;
    this.#beats = new Periodic({
      clock,
      log,
      everyMs: rules.heartbeatMs,
      failure: 'listeners could not be told that their streams are alive',
      run: () => this.#beat(),
    });
    this.shares = new FairShares(rules.streams);
  }

  /** Goes on where an earlier life of the service stopped; before anything is told or asked. */
  restore(streams: readonly KeptStream[]): void {
    // The one that was used last comes first, and shall be forgotten last.
    for (const { teamId, origin, ...past } of streams.toReversed())
      this.#rings.set(teamId, new EventRing(origin, this.#rules.remembered, past));
  }

  /** Where the streams stand; when nothing more is told. */
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
    this.#beats.start();
  }

  /** Ends every stream; readers come back to whoever listens next. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const beating = this.#beats.stop();
    for (const readers of this.#readers.values()) for (const { stream } of readers) stream.finish();
    await beating;
  }

  /** Asks at once whether those who listen for a team still may: somebody in it has lost a right. */
  async recheck(teamId: string): Promise<void> {
    await Promise.all([...(this.#readers.get(teamId) ?? [])].map((reader) => this.#check(reader)));
  }

  /** How many streams are open. */
  get openStreams(): number {
    return this.shares.taken;
  }

  publish({ teamId, type, data }: TeamEvent): void {
    const entry = this.#ringOf(teamId).add(type, { ...data, at: new Date(this.#clock.now()).toISOString() });
    for (const { stream, subscription } of this.#readers.get(teamId) ?? []) {
      if (wants(subscription, type)) stream.write(entry.text);
    }
  }

  /**
   * The id of the team's newest event. What is read after this call has everything that the stream has told up to that id, so whoever
   * reads and then listens from there misses nothing.
   */
  position(teamId: string): string {
    return this.#ringOf(teamId).position;
  }

  /**
   * Opens a stream that goes on where the reader left off.
   * @throws AppError `conflict` when the caller or the team has too many, `unavailable` when all have, and at shutdown
   */
  open(subscription: Subscription): EventStream {
    if (this.#stopped) throw new AppError('unavailable', 'the server is being stopped; come back in a moment');
    const { teamId, callerId } = subscription;
    const holder = { party: teamId, member: callerId };
    this.#takeShare(holder);
    const stream = new EventStream();
    const reader = { subscription, stream };
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
    if (limit === 'total')
      throw new AppError('unavailable', 'the server has as many event streams open as it can', { retryAfterMs: RETRY_AFTER_MS });
    const whose =
      limit === 'member'
        ? `this key has its share of event streams open already (${perMember} at most)`
        : `the team has its share of event streams open already (${perParty} at most)`;
    throw new AppError('conflict', whose);
  }

  #catchUp({ subscription, stream }: Reader): void {
    const ring = this.#ringOf(subscription.teamId);
    const { lastEventId } = subscription;
    const missed = lastEventId === undefined ? [] : ring.after(lastEventId);
    if (missed === undefined) {
      stream.write(eventText(ring.position, RESYNC, { reason: 'the events since the last id are not known any more' }));
      return;
    }
    for (const entry of missed) if (wants(subscription, entry.type)) stream.write(entry.text);
    // An id without data is no event, but where a reader resumes that is cut off before the first one.
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

  async #beat(): Promise<void> {
    for (const reader of [...this.#readers.values()].flatMap((readers) => [...readers])) {
      if (await this.#check(reader)) reader.stream.write(':\n\n');
    }
  }

  /** Ends the stream of a reader who may not listen any more. When it cannot be checked now, the next beat does. */
  async #check({ subscription, stream }: Reader): Promise<boolean> {
    const allowed = await subscription.isStillAllowed().catch(() => true);
    if (!allowed) stream.finish();
    return allowed;
  }
}

function wants({ types }: Subscription, type: EventType): boolean {
  return types.length === 0 || types.includes(type);
}
