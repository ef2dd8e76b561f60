import { CLOSE, decodeAgentMessage, HELLO_TIMEOUT_MS, Liveness, READY_TIMEOUT_MS } from '../../../protocol/index.ts';
import type { AgentMessage, Decoded, Hello, Ready, Request, ServerMessage, Welcome } from '../../../protocol/index.ts';
import type { Notice, RequestOptions, RequestParams, RequestResult } from '../core/agent-gateway.ts';
import type { Timer } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { EndedBy } from '../core/tunnel-record.ts';
import { CLOSED_FOR_PROTOCOL } from './budget.ts';
import type { AgentBudget } from './budget.ts';
import { goaway } from './closing.ts';
import type { CloseReason } from './closing.ts';
import { isOrdered, notifyFeatures } from './events.ts';
import type { EventMessage } from './events.ts';
import { Handshake } from './handshake.ts';
import { Intake } from './intake.ts';
import type { QueueName } from './intake.ts';
import { Logbook } from './logbook.ts';
import { SendQueue } from './send-queue.ts';
import type { Sent } from './send-queue.ts';
import { ReadThrottle } from './read-throttle.ts';
import { AgentRequests } from './requests.ts';
import type { AgentIdentity, SessionDeps, TunnelSocket } from './types.ts';
import { ReadGate } from './read-gate.ts';

/** Unsent bytes, pongs included, for an agent that does not read; beyond this pings are not answered. */
const MAX_UNSENT_PONGS = 64 * 1024;

/**
 * One agent's tunnel. Invariants:
 * - hello, ready and job messages are handled strictly in order of arrival; replies, heartbeats and pings never wait for
 *   them;
 * - no offer leaves before the agent's list of open jobs is reconciled;
 * - after `closed` nothing is sent and no request is open; every onReady is followed by one onGone.
 */
export class TunnelSession {
  readonly identity: AgentIdentity;
  readonly address: string;
  /** Resolves when all received messages are handled and the session's end is recorded. Never rejects. */
  readonly ended: Promise<void>;
  /** Resolves when it is ready, or has ended before. */
  readonly opened: Promise<void>;
  /** Number of unexpected, unknown or unreadable messages. */
  ignored = 0;
  #hasReportedCleaned = false;

  readonly #deps: SessionDeps<TunnelSession>;
  readonly #socket: TunnelSocket;
  readonly #sendQueue: SendQueue;
  readonly #intake: Intake;
  readonly #handshake: Handshake;
  readonly #liveness: Liveness;
  readonly #logbook: Logbook;
  readonly #resolveOpened: () => void;
  readonly #resolveEnded: () => void;
  #state: 'connecting' | 'welcomed' | 'reconciling' | 'ready' | 'closed' = 'connecting';
  /** Deadline for hello, then for ready. */
  #deadline: Timer | undefined;
  #older: Promise<void> | undefined;
  /** Set when `ready` arrives: resolves when it is handled. */
  #reconciled: Promise<void> | undefined;
  /** The features know this connection. */
  #announced = false;
  #requests: AgentRequests | undefined;
  #ping: Buffer | undefined;
  readonly #readGate: ReadGate;
  readonly #budget: AgentBudget;
  readonly #throttle: ReadThrottle;

  constructor(identity: AgentIdentity, address: string, socket: TunnelSocket, deps: SessionDeps<TunnelSession>) {
    this.identity = identity;
    this.address = address;
    this.#socket = socket;
    this.#deps = deps;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#resolveEnded = resolve;
    const opening = Promise.withResolvers<void>();
    this.opened = opening.promise;
    this.#resolveOpened = opening.resolve;
    this.#logbook = new Logbook({ identity, address, socket, clock: deps.clock, listener: deps.callbacks.tunnels });
    this.#sendQueue = new SendQueue(socket);
    this.#handshake = new Handshake(deps.callbacks, deps.settings);
    this.#readGate = new ReadGate(socket);
    this.#budget = deps.budgets.of(identity.agentId, deps.clock.monotonic());
    this.#throttle = new ReadThrottle({
      ...deps,
      budget: this.#budget,
      readGate: this.#readGate,
      handle: (text) => this.#handle(text),
      onHeld: (ms) => this.#onHeld(ms),
    });
    this.#intake = new Intake(this.#readGate.as('database'), (error, queue) => this.#onFailure(error, queue));
    this.#startDeadline(HELLO_TIMEOUT_MS);
    this.#liveness = new Liveness({
      timers: deps.clock,
      random: deps.random,
      periodMs: deps.settings.pingMs,
      bytesRead: () => socket.bytesRead,
      paused: () => this.#readGate.isClosed,
      ping: () => this.#logbook.ping(),
      onDead: () => this.#onDead(),
    });
  }

  /** Its epoch while it is usable, otherwise undefined. */
  get epoch(): number | undefined {
    return this.#isOpen() ? this.#handshake.connection?.epoch : undefined;
  }

  /** Its epoch from welcome on, also after it has closed; 0 before. */
  get claimedEpoch(): number {
    return this.#handshake.connection?.epoch ?? 0;
  }

  /** It is open, and what was asked of the agent is answered, unless it may be lost. */
  canLeave(mayLose: boolean): boolean {
    return this.#state !== 'closed' && (mayLose || !this.#requests?.hasOpen);
  }

  /** @throws AppError `agent_offline` when it is not usable, otherwise as {@link AgentRequests.ask} */
  async request<M extends Request['method']>(method: M, params: RequestParams<M>, options: RequestOptions): Promise<RequestResult<M>> {
    if (!this.#isOpen()) throw new AppError('agent_offline', 'the agent is not connected');
    this.#requests ??= new AgentRequests({
      clock: this.#deps.clock,
      counters: this.#deps.counters,
      memory: this.#deps.replies.ofTunnel(this.identity.teamId),
      send: (message) => this.#send(message),
    });
    return this.#requests.request(method, params, options);
  }

  /** Sends without waiting. Offers are held back until the agent's list of open jobs is reconciled. */
  notify(message: Notice): boolean {
    if (!this.#isOpen()) return false;
    if (this.#state === 'reconciling' && message.type === 'job.offer') return this.#sendQueue.hold(message);
    return this.#send(message) === 'sent';
  }

  /**
   * Closes on purpose.
   * @param reconnectAfterMs when the agent may come back, instead of the reason's own pause
   * @param endedBy for the record, instead of the reason's own word
   */
  close(
    reason: CloseReason,
    { reconnectAfterMs, endedBy }: { reconnectAfterMs?: number | undefined; endedBy?: EndedBy | undefined } = {},
  ): void {
    if (this.#state === 'closed') return;
    if (reason === 'protocol' || reason === 'handshakeTimeout') this.#budget.offend(CLOSED_FOR_PROTOCOL, this.#deps.clock.monotonic());
    const last = goaway(reason, reconnectAfterMs);
    if (last) this.#send(last);
    this.#socket.close(CLOSE[reason], reason);
    this.#end(endedBy ?? Logbook.endedBy(reason), reason === 'revoked');
  }

  /** The socket is closed, for whatever reason. What came before is handled first. @param errorCode what the operating system said */
  onClosed(errorCode?: string): void {
    this.#throttle.whenEmpty(() => this.#end(Logbook.lostBy(errorCode)));
  }

  /** Call before received bytes are parsed. */
  beginRead(): void {
    this.#throttle.beginRead();
  }

  /** Call after they were parsed. Answers only the newest of their pings, as RFC 6455 allows, and only while pongs can be sent. */
  endRead(bytes: number): void {
    if (this.#ping && this.#state !== 'closed' && this.#socket.bufferedAmount < MAX_UNSENT_PONGS) this.#socket.pong(this.#ping);
    this.#ping = undefined;
    this.#logbook.heard();
    this.#throttle.endRead(bytes);
  }

  /** A text message arrived. Never throws. */
  onText(text: string): void {
    if (this.#state === 'closed') return;
    this.#logbook.heard();
    this.#throttle.take(text);
  }

  /** A ping arrived in the current read. */
  onPing(data: Buffer): void {
    this.#ping = data;
    this.#throttle.count();
  }

  /** The agent has answered a ping. */
  onPong(data: Buffer): void {
    this.#logbook.onPong(data);
  }

  #handle(text: string): void {
    if (this.#state === 'closed') return;
    const decoded = decodeAgentMessage(text);
    if (decoded.kind !== 'message') {
      this.#onUnreadable(decoded);
      return;
    }
    if (decoded.cleaned !== undefined) this.#onCleaned(decoded.message.type, decoded.cleaned);
    this.#receive(decoded.message, Buffer.byteLength(text));
  }

  /** Agents clean text from routers, but cannot be trusted to. Warns once per tunnel, and counts every case. */
  #onCleaned(type: string, count: number): void {
    this.#deps.counters.cleanedMessages += 1;
    const fields = { agent_id: this.identity.agentId, team_id: this.identity.teamId, message_type: type, count };
    this.#deps.log[this.#hasReportedCleaned ? 'debug' : 'warn'](
      fields,
      'a message contained invalid text or values from a router, which were cleaned',
    );
    this.#hasReportedCleaned = true;
  }

  /** A binary message arrived: the protocol has none. */
  onBinary(): void {
    this.close('protocol');
  }

  #isOpen(): boolean {
    return this.#state === 'reconciling' || this.#state === 'ready';
  }

  #receive(message: AgentMessage, bytes: number): void {
    switch (message.type) {
      case 'hello':
        this.#intake.push('ordered', bytes, () => this.#onHello(message));
        return;
      case 'ready':
        this.#intake.push('ordered', bytes, () => this.#onReady(message));
        // A `ready` before welcome is ignored and must not count as reconciled.
        if (this.#state === 'welcomed') this.#reconciled ??= this.#intake.done('ordered');
        return;
      case 'reply':
        this.#requests?.onReply(message);
        return;
      case 'rows':
        this.#requests?.onRows(message, bytes);
        return;
      case 'goaway':
        this.close('normal');
        return;
      default:
        this.#onEvent(message, bytes);
    }
  }

  #onEvent(message: EventMessage, bytes: number): void {
    const reconciled = this.#reconciled;
    // Before ready an agent may send no events; it repeats important ones afterwards.
    if (!reconciled) this.#ignore(message.type);
    else if (message.type.startsWith('job.')) this.#intake.push('ordered', bytes, () => this.#notify(message));
    else if (!isOrdered(message) && this.#state === 'ready') this.#notifyNow(message);
    else {
      this.#announceInventory(message);
      this.#intake.push('facts', bytes, async () => {
        await reconciled;
        await this.#notify(message);
      });
    }
  }

  /** Announces an inventory before it is handled, because heartbeats overtake it: features that depend on the order need to know. */
  #announceInventory(message: EventMessage): void {
    const { connection } = this.#handshake;
    if (message.type === 'inventory' && connection && this.#announced)
      this.#deps.callbacks.events.onInventoryArrived?.(connection, message.router);
  }

  async #notify(message: EventMessage): Promise<void> {
    const { connection } = this.#handshake;
    if (connection && this.#announced) await notifyFeatures(this.#deps.callbacks.events, connection, message);
  }

  /** For heartbeats and other messages that features handle without waiting. */
  #notifyNow(message: EventMessage): void {
    this.#notify(message).catch((error: unknown) => this.#onFailure(error, 'facts'));
  }

  async #onHello(hello: Hello): Promise<void> {
    if (this.#state !== 'connecting') {
      this.#ignore('hello');
      return;
    }
    this.#logbook.said(hello.agent_version);
    const welcome = await this.#handshake.greet(this.identity, this.address, hello);
    if (typeof welcome === 'string') this.close(welcome);
    else if (this.#claim(welcome)) {
      this.#send(welcome);
      this.#startDeadline(READY_TIMEOUT_MS);
    }
  }

  /** Takes over from the agent's older session. @returns false when this session itself has ended */
  #claim(welcome: Welcome): boolean {
    // The socket may have closed while the epoch was raised.
    if (this.#state !== 'connecting') return false;
    this.#logbook.greeted(welcome);
    this.#older = this.#deps.slot.claim(this);
    if (!this.#older) {
      this.close('replaced');
      return false;
    }
    this.#state = 'welcomed';
    return true;
  }

  async #onReady(ready: Ready): Promise<void> {
    if (this.#state !== 'welcomed') {
      this.#ignore('ready');
      return;
    }
    const connection = await this.#handshake.confirm(ready);
    if (typeof connection === 'string') {
      this.close(connection);
      return;
    }
    await this.#older;
    if (!this.#startReconciling()) return;
    await this.#deps.callbacks.events.onReady(connection, connection.reset ? [] : ready.jobs);
    this.#finishReconciling();
  }

  #startReconciling(): boolean {
    if (this.#state !== 'welcomed') return false;
    this.#deadline?.cancel();
    this.#deadline = undefined;
    this.#older = undefined;
    this.#announced = true;
    this.#state = 'reconciling';
    this.#logbook.ready();
    return true;
  }

  #finishReconciling(): void {
    if (this.#state !== 'reconciling') return;
    this.#state = 'ready';
    this.#resolveOpened();
    this.#sendQueue.release();
  }

  #onUnreadable(decoded: Exclude<Decoded<AgentMessage>, { kind: 'message' }>): void {
    if (decoded.kind === 'unknown') {
      this.#ignore(decoded.type);
      return;
    }
    const type = decoded.kind === 'invalid' ? decoded.type : 'none';
    this.#deps.log.warn({ agent_id: this.identity.agentId, message_type: type, reason: decoded.reason }, 'unreadable message from agent');
    if (decoded.kind === 'garbage' || type === 'hello' || type === 'ready') {
      this.close('protocol');
      return;
    }
    this.ignored += 1;
    if (decoded.id !== undefined) this.#requests?.onInvalid(decoded.id);
    if (!this.#budget.offend(1, this.#deps.clock.monotonic())) this.#closeForAbuse();
  }

  /** Stops reading: further input must not be parsed. `ws` closes the socket after a timeout. */
  #closeForAbuse(): void {
    this.#deps.counters.add('tunnel_abuse');
    const pauseMs = this.#budget.pauseMs(this.#deps.clock.monotonic());
    this.#deps.log.warn(
      { agent_id: this.identity.agentId, team_id: this.identity.teamId, duration_ms: pauseMs },
      'agent sent too many unreadable messages and may not reconnect for a while',
    );
    this.close('abuse', { reconnectAfterMs: pauseMs });
    this.#socket.pause();
  }

  #onHeld(ms: number): void {
    this.#deps.counters.add('tunnel_budget');
    this.#deps.log.info(
      { agent_id: this.identity.agentId, duration_ms: ms },
      'reading from the agent is throttled: it has used up its budget',
    );
  }

  #ignore(type: string): void {
    this.ignored += 1;
    this.#deps.log.debug({ agent_id: this.identity.agentId, message_type: type.slice(0, 64) }, 'message ignored');
  }

  #send(message: ServerMessage): Sent {
    return this.#state === 'closed' ? 'closed' : this.#sendQueue.send(message);
  }

  #startDeadline(ms: number): void {
    this.#deadline?.cancel();
    this.#deadline = this.#deps.clock.setTimeout(() => this.close('handshakeTimeout'), ms);
  }

  /**
   * A callback failed. The agent repeats lost handshake and job messages with its next `ready`, so the tunnel must reconnect;
   * facts are repeated anyway.
   */
  #onFailure(error: unknown, queue: QueueName): void {
    this.#deps.log.error({ err: error, agent_id: this.identity.agentId, epoch: this.claimedEpoch }, 'agent message not handled');
    if (queue === 'ordered') this.close('restart');
  }

  #onDead(): void {
    this.#deps.log.info({ agent_id: this.identity.agentId, reason: 'silent' }, 'agent connection is dead');
    this.#socket.terminate();
    this.#end('silence');
  }

  #end(endedBy: EndedBy, isRevoked = false): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#resolveOpened();
    this.#logbook.close(endedBy, isRevoked);
    this.#deadline?.cancel();
    this.#liveness.stop();
    this.#requests?.close();
    this.#throttle.stop();
    // An unread socket would never receive the peer's part of the closing handshake.
    this.#readGate.release('database');
    this.#deps.slot.release(this);
    void this.#recordEnd().finally(this.#resolveEnded);
  }

  /** Messages received before the end still count, such as job results. */
  async #recordEnd(): Promise<void> {
    await this.#intake.done('ordered');
    await this.#intake.done('facts');
    const { connection } = this.#handshake;
    const { end } = this.#logbook;
    if (!connection || !end) return;
    try {
      if (this.#announced) this.#deps.callbacks.events.onGone(connection, end);
      await this.#deps.callbacks.endSession(connection.agentId, connection.epoch);
    } catch (error) {
      this.#deps.log.error({ err: error, agent_id: connection.agentId, epoch: connection.epoch }, 'session end not recorded');
    }
  }
}
