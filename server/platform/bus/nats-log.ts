import { setTimeout as pause } from 'node:timers/promises';
import {
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  StorageType,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream';
import type { JetStreamManager, JsMsg, StreamConfig, StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { within } from '../core/within.ts';
import { LogOutbox } from './log-outbox.ts';
import type { LogEntry, LogFollower, LogPosition, SharedLog } from './shared-log.ts';

/** Of the log in the memory of the bus's server: 200,000 events of 300 bytes. */
const MOST_BYTES = 64 * 1024 * 1024;
/** For how long the server knows the ids of messages. */
const IDS_KNOWN_MS = 120_000;
/** The log survives the loss of one server of three. */
const REPLICAS = 3;
const ANSWER_MS = 5000;
/** The start waits for so long for a bus that is away. */
const START_MS = 10_000;
/** Between attempts, with up to as much again by chance. */
const AGAIN_MS = 250;
/** How often it is looked whether the log is still the same one. */
const LOOK_EVERY_MS = 5000;
/** What is sent last at the stop. */
const LAST_WORDS_MS = 1000;

export interface NatsLogDeps {
  /** Calls with each connection to the bus. */
  onConnection: (use: (connection: NatsConnection) => void) => void;
  /** Of the log, in letters and digits: control planes on one database have the same. */
  name: string;
  /** Unique in all control planes and starts. */
  nodeId: string;
  /** Messages of each topic that are kept. */
  perTopic: number;
  /** Takes the place of messages that were given up. */
  lostText: string;
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
}

/** The shared log as a stream of NATS JetStream in memory. Each connection to the bus reads on where the last one stopped. */
export class NatsLog implements SharedLog {
  readonly #deps: NatsLogDeps;
  readonly #stream: string;
  readonly #subjects: string;
  readonly #outbox: LogOutbox;
  readonly #stopping = new AbortController();
  readonly #started = Promise.withResolvers<void>();
  #follower: LogFollower | undefined;
  #position: LogPosition | undefined;
  #running: Promise<void> = Promise.resolve();
  #isMissed = false;
  #hasNoJetStream = false;

  constructor(deps: NatsLogDeps) {
    this.#deps = deps;
    this.#stream = `SIGNALBOX_EVENTS_${deps.name}`;
    this.#subjects = `signalbox.events.${deps.name}`;
    const { nodeId: prefix, lostText, clock } = deps;
    this.#outbox = new LogOutbox({ prefix, lostText, monotonic: () => clock.monotonic(), idsKnownForMs: IDS_KNOWN_MS });
  }

  get position(): LogPosition | undefined {
    return this.#position;
  }

  get waiting(): number {
    return this.#outbox.size;
  }

  get losses(): number {
    return this.#outbox.losses;
  }

  append(topic: string, text: string): void {
    if (!this.#stopping.signal.aborted) this.#outbox.add(topic, text);
  }

  follow(follower: LogFollower): void {
    this.#follower = follower;
  }

  async start(): Promise<void> {
    this.#deps.onConnection((connection) => {
      this.#running = this.#running.then(() => this.#use(connection));
    });
    await within(this.#started.promise, START_MS);
    if (this.#hasNoJetStream) throw noJetStream();
  }

  async stop(): Promise<void> {
    await within(this.#outbox.settled(), LAST_WORDS_MS);
    this.#outbox.pause();
    this.#stopping.abort();
    await within(this.#running, LAST_WORDS_MS);
  }

  /** Reads and writes the log on one connection until that ends. Never rejects. */
  async #use(connection: NatsConnection): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted && !connection.isClosed()) {
      try {
        await this.#readOn(connection);
      } catch (error) {
        this.#onFailure(error, connection);
      } finally {
        this.#outbox.pause();
      }
      await pause(AGAIN_MS * (1 + Math.random()), undefined, { signal }).catch(() => undefined);
    }
  }

  #onFailure(error: unknown, connection: NatsConnection): void {
    // Its class is not exported.
    this.#hasNoJetStream = error instanceof Error && error.name === 'JetStreamNotEnabled';
    // A server that has it may not be ready yet.
    if (this.#hasNoJetStream && connection.info?.jetstream !== true) this.#started.resolve();
    if (!this.#isMissed && !connection.isClosed()) this.#deps.log.warn({ err: error }, 'the log of events cannot be used; trying again');
    this.#isMissed = true;
  }

  /** Resolves when it has to be opened again. */
  async #readOn(connection: NatsConnection): Promise<void> {
    const manager = await jetstreamManager(connection, { timeout: ANSWER_MS });
    const info = await this.#openStream(manager, connection);
    const reading = new Reading(info, this.#position, (position) => (this.#position = position), this.#follower!);
    const client = jetstream(connection, { timeout: ANSWER_MS });
    const broken = new AbortController();
    const fail = (): void => broken.abort();
    void connection.closed().then(fail);
    const consumer = await client.consumers.getPushConsumer(this.#stream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: reading.from,
    });
    const messages = await consumer.consume({ callback: (message) => reading.onMessage(message) });
    try {
      void messages.closed().then(fail);
      reading.onLoaded(() => this.#onLoaded());
      this.#outbox.resume(async (topic, text, id) => {
        try {
          await client.publish(`${this.#subjects}.${topic}`, text, { msgID: id, timeout: ANSWER_MS });
        } catch (error) {
          fail();
          throw error;
        }
      });
      await this.#watch(manager, reading.origin, broken.signal);
    } finally {
      messages.stop();
    }
  }

  #onLoaded(): void {
    this.#isMissed = false;
    this.#hasNoJetStream = false;
    this.#started.resolve();
  }

  /** Resolves when something has failed, at the stop, and when the log is not the same any more. */
  async #watch(manager: JetStreamManager, origin: string, broken: AbortSignal): Promise<void> {
    const until = AbortSignal.any([broken, this.#stopping.signal]);
    while (!until.aborted) {
      await pause(LOOK_EVERY_MS, undefined, { signal: until }).catch(() => undefined);
      if (!until.aborted && originOf(await manager.streams.info(this.#stream)) !== origin) return;
    }
  }

  async #openStream(manager: JetStreamManager, { info }: NatsConnection): Promise<StreamInfo> {
    try {
      return await manager.streams.info(this.#stream);
    } catch (error) {
      if (!isApiError(error, JetStreamApiCodes.StreamNotFound)) throw error;
    }
    const config = this.#config();
    if (info?.cluster === undefined) return manager.streams.add({ ...config, num_replicas: 1 });
    try {
      return await manager.streams.add({ ...config, num_replicas: REPLICAS });
    } catch (error) {
      // Two servers have no room for three copies.
      if (!(error instanceof JetStreamApiError)) throw error;
      return manager.streams.add({ ...config, num_replicas: 1 });
    }
  }

  #config(): Partial<StreamConfig> & Pick<StreamConfig, 'name'> {
    return {
      name: this.#stream,
      subjects: [`${this.#subjects}.*`],
      storage: StorageType.Memory,
      discard: DiscardPolicy.Old,
      max_msgs_per_subject: this.#deps.perTopic,
      max_bytes: MOST_BYTES,
      duplicate_window: IDS_KNOWN_MS * 1_000_000,
    };
  }
}

/** Takes the messages of one consumer. */
class Reading {
  readonly origin: string;
  /** The first number to ask for. */
  readonly from: number;
  readonly #follower: LogFollower;
  readonly #setPosition: (position: LogPosition) => void;
  readonly #lastAtOpening: number;
  /** What was read before everything is there; undefined once it is. */
  #loading: LogEntry[] | undefined;
  #next: number;
  #tell: (() => void) | undefined;

  constructor(info: StreamInfo, known: LogPosition | undefined, setPosition: (position: LogPosition) => void, follower: LogFollower) {
    const { first_seq: first, last_seq: last } = info.state;
    this.origin = originOf(info);
    this.#follower = follower;
    this.#setPosition = setPosition;
    this.#lastAtOpening = last;
    const isSame = known?.origin === this.origin && known.number <= last;
    this.from = isSame ? known.number + 1 : Math.max(1, first);
    this.#next = this.from;
    this.#loading = isSame ? undefined : [];
  }

  /** @param tell called when everything up to now has been read */
  onLoaded(tell: () => void): void {
    this.#tell = tell;
    if (this.#lastAtOpening < this.from) this.#endLoading();
    else if (!this.#loading) this.#sayLoaded();
  }

  onMessage(message: JsMsg): void {
    const entry = { number: message.seq, topic: message.subject.slice(message.subject.lastIndexOf('.') + 1), text: message.string() };
    const isGap = entry.number > this.#next;
    if (this.#loading) {
      // Of topics with many messages the old ones are gone, which leaves gaps everywhere.
      this.#loading.push(entry);
      this.#next = entry.number + 1;
      if (message.info.pending === 0) this.#endLoading();
      return;
    }
    this.#next = entry.number + 1;
    if (isGap) this.#onGap({ origin: this.origin, number: entry.number - 1 });
    this.#setPosition({ origin: this.origin, number: entry.number });
    this.#follower.onEntry(entry);
  }

  /** This control plane was behind for so long that the log has dropped what it had not read. */
  #onGap(from: LogPosition): void {
    this.#setPosition(from);
    this.#follower.onReset(from, []);
  }

  #endLoading(): void {
    const entries = this.#loading;
    if (entries) {
      this.#loading = undefined;
      const last = Math.max(this.#lastAtOpening, this.#next - 1);
      this.#next = last + 1;
      const begin = (entries[0]?.number ?? last + 1) - 1;
      this.#setPosition({ origin: this.origin, number: last });
      this.#follower.onReset({ origin: this.origin, number: begin }, entries);
    }
    this.#sayLoaded();
  }

  #sayLoaded(): void {
    this.#tell?.();
    this.#tell = undefined;
  }
}

/** A stream that was made anew has another one. */
function originOf({ created }: StreamInfo): string {
  return Date.parse(created).toString(36);
}

function isApiError(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}

function noJetStream(): AppError {
  return new AppError(
    'invalid',
    'SIGNALBOX_BUS_URL: the NATS server has no JetStream, which keeps the order of events: add `jetstream {}` to its configuration',
  );
}
