import { setTimeout as pause } from 'node:timers/promises';
import { AuthorizationError, connect } from '@nats-io/transport-node';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { Timers } from '../../../runtime/timers.ts';
import { newId } from '../core/ids.ts';
import { systemClock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { within } from '../core/within.ts';
import { Answers } from './answers.ts';
import { OpenAsks } from './asks.ts';
import { BusCounts } from './counts.ts';
import { BusAwayError, NobodyListensError } from './errors.ts';
import { framesOf, hintFrame, readFrame } from './frames.ts';
import type { Frame } from './frames.ts';
import type { Answerer, AskOptions, Bus, Published } from './types.ts';

/** Where the servers of the bus are, and how this process signs in there. */
export interface BusServers {
  /** `host:port` each. */
  servers: readonly string[];
  /** False where only a TLS connection will do. */
  allowPlain: boolean;
  user: string | undefined;
  password: string | undefined;
}

export interface NatsBusOptions extends BusServers {
  /** Shown in the lists of the bus's server. */
  name: string;
  timers: Timers;
  log: Log;
}

const CONNECT_MS = 2000;
/** A line that was cut without a word is found after two pings without an answer. */
const PING_MS = 1000;
const PINGS_UNANSWERED = 2;
/** Between attempts to connect, with up to as much again by chance: control planes must not come back in step. */
const AGAIN_MS = 250;
/** Of a start, for the first attempt to connect: a little longer than that has. */
const FIRST_ATTEMPT_MS = CONNECT_MS + 500;
/** What is said last at the stop. */
const LAST_WORDS_MS = 1000;
/** Of one message before the first connection, and where the server allows less: it would be of no use. */
const LEAST_BYTES = 4096;
const NOBODY_LISTENS = 503;

/**
 * The bus on NATS core. Each connection is a new one with its own subscriptions: the library's reconnection would keep what was published
 * meanwhile and send it late, when nobody waits for it any more.
 */
export class NatsBus implements Bus {
  readonly counts = new BusCounts();
  readonly #options: NatsBusOptions;
  readonly #answerers = new Map<string, Answerer>();
  readonly #users: ((connection: NatsConnection) => void)[] = [];
  readonly #ears = new Map<string, (value: unknown) => void>();
  readonly #asks: OpenAsks;
  readonly #answers: Answers;
  /** Replies to this process go to `<replies>.<number of the ask>`. */
  readonly #replies: string;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #connection: NatsConnection | undefined;
  /** Sent at the end of this turn of the loop. */
  #turn: { reply: string; frames: readonly Buffer[] }[] = [];
  /** The log says that it is away. */
  #isMissed = false;
  readonly #attempted = Promise.withResolvers<void>();
  #isRefused = false;

  private constructor(options: NatsBusOptions) {
    const { timers, log } = options;
    this.#options = options;
    this.#replies = `signalbox.reply.${newId(systemClock.now())}`;
    this.#asks = new OpenAsks({ timers, counts: this.counts, cancel: (subject, id) => this.#cancel(subject, id) });
    this.#answers = new Answers({
      timers,
      log,
      mostBytes: () => this.#mostBytes(),
      send: (reply, frames) => this.#sendWithTurn(reply, frames),
    });
    this.#running = this.#run();
  }

  /** Connects from now on, again and again until {@link close}. */
  static open(options: NatsBusOptions): NatsBus {
    return new NatsBus(options);
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** Waits for the first attempt to connect, which may fail. @throws AppError `conflict` when the bus does not let this process in */
  async firstAttempt(): Promise<void> {
    await within(this.#attempted.promise, FIRST_ATTEMPT_MS);
    if (this.#isRefused) throw new AppError('conflict', 'the bus refuses the user or the password of SIGNALBOX_BUS_URL');
  }

  async ask(subject: string, value: unknown, options: AskOptions): Promise<unknown> {
    if (!this.#connection) {
      this.counts.asks.away += 1;
      throw new BusAwayError();
    }
    const frames = framesOf(value, { kind: 'ask', number: 0, mostBytes: this.#mostBytes(), remainingMs: options.timeoutMs });
    if (options.signal?.aborted) throw new AppError('unavailable', 'the request was given up before it was sent');
    const { id, answer } = this.#asks.open(subject, options);
    if (!this.#send(subject, frames, this.#replyOf(id))) this.#asks.onNotSent(id, new BusAwayError());
    return answer;
  }

  answer(subject: string, answerer: Answerer): void {
    this.#answerers.set(subject, answerer);
    if (this.#connection) this.#subscribeAnswerer(this.#connection, subject, answerer);
  }

  publish(subject: string, value: unknown): Published {
    // Nobody knows what one message may be while there is no connection.
    if (!this.#connection) return 'away';
    const frame = hintFrame(value, this.#mostBytes());
    if (!frame) return 'too_large';
    return this.#send(subject, [frame]) ? 'sent' : 'away';
  }

  listen(subject: string, hear: (value: unknown) => void): void {
    this.#ears.set(subject, hear);
    if (this.#connection) this.#subscribeEar(this.#connection, subject, hear);
  }

  /** Calls with the present connection and with each later one, for what a bus does not do. The connection stays the bus's. */
  onConnection(use: (connection: NatsConnection) => void): void {
    this.#users.push(use);
    if (this.#connection) use(this.#connection);
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    this.#asks.onAway();
    this.#endTurn();
    const connection = this.#connection;
    if (connection)
      await within(
        connection.flush().catch(() => undefined),
        LAST_WORDS_MS,
      );
    await connection?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#connectOnce();
      const waitMs = AGAIN_MS * (1 + Math.random());
      await pause(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** One connection from its begin to its end. Never rejects. */
  async #connectOnce(): Promise<void> {
    const { log } = this.#options;
    try {
      const connection = await this.#connect();
      this.#begin(connection);
      this.#attempted.resolve();
      const cause = await connection.closed();
      this.#end(cause ?? undefined);
    } catch (error) {
      this.#isRefused = isRefusal(error);
      this.#attempted.resolve();
      if (!this.#isMissed) log.warn({ err: error }, 'the bus between the control planes is away; trying again');
      this.#isMissed = true;
    }
  }

  #connect(): Promise<NatsConnection> {
    const { servers, allowPlain, user, password, name } = this.#options;
    return connect({
      servers: [...servers],
      ...(allowPlain ? {} : { tls: {} }),
      ...(user === undefined ? {} : { user, pass: password ?? '' }),
      name,
      timeout: CONNECT_MS,
      reconnect: false,
      pingInterval: PING_MS,
      maxPingOut: PINGS_UNANSWERED,
      noEcho: true,
    });
  }

  #begin(connection: NatsConnection): void {
    if (this.#stopping.signal.aborted) {
      void connection.close();
      return;
    }
    this.#connection = connection;
    this.counts.connections += 1;
    this.#subscribe(connection, `${this.#replies}.*`, (message) => this.#onReply(message));
    for (const [subject, answerer] of this.#answerers) this.#subscribeAnswerer(connection, subject, answerer);
    for (const [subject, hear] of this.#ears) this.#subscribeEar(connection, subject, hear);
    this.#options.log.info({ source: connection.getServer() }, 'connected to the bus between the control planes');
    this.#isMissed = false;
    for (const use of this.#users) use(connection);
  }

  #end(cause: Error | undefined): void {
    this.#connection = undefined;
    this.#asks.onAway();
    this.#answers.abortAll();
    if (this.#stopping.signal.aborted) return;
    this.#options.log.warn({ err: cause }, 'the connection to the bus between the control planes broke');
    this.#isMissed = true;
  }

  #subscribeAnswerer(connection: NatsConnection, subject: string, answerer: Answerer): void {
    this.#subscribe(connection, subject, ({ data, reply }) => {
      const frame = this.#read(data);
      if (frame && reply !== undefined) this.#answers.onFrame(answerer, reply, frame);
    });
  }

  #subscribeEar(connection: NatsConnection, subject: string, hear: (value: unknown) => void): void {
    this.#subscribe(connection, subject, ({ data }) => {
      const frame = this.#read(data);
      if (frame?.kind === 'hint') hear(JSON.parse(frame.part.toString()));
    });
  }

  #subscribe(connection: NatsConnection, subject: string, take: (message: Msg) => void): void {
    connection.subscribe(subject, {
      callback: (error, message) => {
        if (error) {
          this.#options.log.error({ err: error }, 'the bus refuses what the control planes need');
          return;
        }
        try {
          take(message);
        } catch (cause) {
          this.counts.unreadable += 1;
          this.#options.log.warn({ err: cause }, 'a message of another control plane could not be taken');
        }
      },
    });
  }

  #onReply(message: Msg): void {
    const id = Number(message.subject.slice(this.#replies.length + 1));
    if (message.headers?.code === NOBODY_LISTENS) {
      this.#asks.onNotSent(id, new NobodyListensError());
      return;
    }
    const frame = this.#read(message.data);
    if (frame) this.#asks.onFrame(id, frame);
  }

  #read(data: Uint8Array): Frame | undefined {
    const frame = readFrame(data);
    if (!frame) this.counts.unreadable += 1;
    return frame;
  }

  /** @returns false when nothing was sent */
  #send(subject: string, frames: readonly Buffer[], reply?: string): boolean {
    const connection = this.#connection;
    if (!connection || connection.isClosed()) return false;
    try {
      for (const frame of frames) connection.publish(subject, frame, reply === undefined ? {} : { reply });
      return true;
    } catch (error) {
      this.#options.log.warn({ err: error }, 'a message to other control planes was not sent');
      return false;
    }
  }

  /** What answers in one turn leaves in one write: the rows of a short answer and its end would be two, and wake the asker twice. */
  #sendWithTurn(reply: string, frames: readonly Buffer[]): void {
    if (this.#turn.length === 0) setImmediate(() => this.#endTurn());
    this.#turn.push({ reply, frames });
  }

  #endTurn(): void {
    const turn = this.#turn;
    this.#turn = [];
    for (const { reply, frames } of turn) this.#send(reply, frames);
  }

  #cancel(subject: string, id: number): void {
    this.#send(subject, framesOf(null, { kind: 'cancel', number: 0, mostBytes: this.#mostBytes() }), this.#replyOf(id));
  }

  #replyOf(id: number): string {
    return `${this.#replies}.${id}`;
  }

  /** Of one message. */
  #mostBytes(): number {
    return Math.max(LEAST_BYTES, this.#connection?.info?.max_payload ?? 0);
  }
}

/** Not an `authentication timeout`, which a server that is overloaded gives. */
function isRefusal(error: unknown): boolean {
  return error instanceof AuthorizationError && /authorization violation/i.test(error.message);
}
