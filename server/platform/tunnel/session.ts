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
import { isWritten, tellFeatures } from './events.ts';
import type { EventMessage } from './events.ts';
import { Handshake } from './handshake.ts';
import { Intake } from './intake.ts';
import type { LaneName } from './intake.ts';
import { Logbook } from './logbook.ts';
import { Outbox } from './outbox.ts';
import type { Sent } from './outbox.ts';
import { Pacing } from './pacing.ts';
import { AgentRequests } from './requests.ts';
import type { AgentIdentity, SessionDeps, TunnelSocket } from './types.ts';
import { Valve } from './valve.ts';

/** Pongs and whatever else waits for an agent that does not read; beyond it pings get no answer. */
const MAX_UNSENT_PONGS = 64 * 1024;

/**
 * One agent's tunnel. Invariants:
 * - hello, ready and job messages are handled strictly in the order they came; replies, heartbeats and pings never
 *   wait for them;
 * - no offer leaves before the agent's list of open jobs is settled;
 * - after `closed` nothing is sent and no request is open; every onReady is followed by one onGone.
 */
export class TunnelSession {
  readonly identity: AgentIdentity;
  readonly address: string;
  /** Settles when everything the agent said is handled and the session's end is recorded. Never rejects. */
  readonly ended: Promise<void>;
  /** Messages of unknown type, out of place or unreadable. */
  ignored = 0;
  #toldCleaned = false;

  readonly #deps: SessionDeps<TunnelSession>;
  readonly #socket: TunnelSocket;
  readonly #outbox: Outbox;
  readonly #intake: Intake;
  readonly #handshake: Handshake;
  readonly #liveness: Liveness;
  readonly #logbook: Logbook;
  readonly #resolveEnded: () => void;
  #state: 'connecting' | 'welcomed' | 'settling' | 'ready' | 'closed' = 'connecting';
  /** For hello, then for ready. */
  #deadline: Timer | undefined;
  #older: Promise<void> | undefined;
  /** Set when `ready` has come: the end of its handling. */
  #settled: Promise<void> | undefined;
  /** The features have been told of this connection. */
  #announced = false;
  #requests: AgentRequests | undefined;
  #ping: Buffer | undefined;
  readonly #valve: Valve;
  readonly #budget: AgentBudget;
  readonly #pacing: Pacing;

  constructor(identity: AgentIdentity, address: string, socket: TunnelSocket, deps: SessionDeps<TunnelSession>) {
    this.identity = identity;
    this.address = address;
    this.#socket = socket;
    this.#deps = deps;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#resolveEnded = resolve;
    this.#logbook = new Logbook({ identity, address, socket, clock: deps.clock, listener: deps.callbacks.tunnels });
    this.#outbox = new Outbox(socket);
    this.#handshake = new Handshake(deps.callbacks, deps.settings);
    this.#valve = new Valve(socket);
    this.#budget = deps.budgets.of(identity.agentId, deps.clock.monotonic());
    this.#pacing = new Pacing({
      ...deps,
      budget: this.#budget,
      valve: this.#valve,
      handle: (text) => this.#handle(text),
      onHeld: (ms) => this.#onHeld(ms),
    });
    this.#intake = new Intake(this.#valve.as('database'), (error, lane) => this.#onFailure(error, lane));
    this.#startDeadline(HELLO_TIMEOUT_MS);
    this.#liveness = new Liveness({
      timers: deps.clock,
      random: deps.random,
      periodMs: deps.settings.pingMs,
      bytesRead: () => socket.bytesRead,
      paused: () => this.#valve.isClosed,
      ping: () => this.#logbook.ping(),
      onDead: () => this.#onDead(),
    });
  }

  /** Its epoch while it can be used, otherwise undefined. */
  get epoch(): number | undefined {
    return this.#isOpen() ? this.#handshake.connection?.epoch : undefined;
  }

  /** Its epoch from welcome on, whatever became of it; 0 before. */
  get claimedEpoch(): number {
    return this.#handshake.connection?.epoch ?? 0;
  }

  /** @throws AppError `agent_offline` when it cannot be used, otherwise as {@link AgentRequests.ask} */
  async request<M extends Request['method']>(method: M, params: RequestParams<M>, options: RequestOptions): Promise<RequestResult<M>> {
    if (!this.#isOpen()) throw new AppError('agent_offline', 'the agent is not connected');
    this.#requests ??= new AgentRequests({
      clock: this.#deps.clock,
      counters: this.#deps.counters,
      memory: this.#deps.replies.ofTunnel(this.identity.teamId),
      send: (message) => this.#send(message),
    });
    return this.#requests.ask(method, params, options);
  }

  /** Sends without waiting. An offer that comes while the agent's list is being settled leaves afterwards. */
  notify(message: Notice): boolean {
    if (!this.#isOpen()) return false;
    if (this.#state === 'settling' && message.type === 'job.offer') return this.#outbox.hold(message);
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
    this.#end(endedBy ?? Logbook.endedBy(reason));
  }

  /** The socket is closed, for whatever reason. What came before is handled first. @param errorCode what the operating system said */
  onClosed(errorCode?: string): void {
    this.#pacing.whenEmpty(() => this.#end(Logbook.lostBy(errorCode)));
  }

  /** Bytes have come: those of them that are messages follow at once. */
  beginRead(): void {
    this.#pacing.beginRead();
  }

  /** The bytes have been parsed. Of the pings among them the newest is answered, as RFC 6455 allows, if its answer can leave. */
  endRead(bytes: number): void {
    if (this.#ping && this.#state !== 'closed' && this.#socket.bufferedAmount < MAX_UNSENT_PONGS) this.#socket.pong(this.#ping);
    this.#ping = undefined;
    this.#logbook.heard();
    this.#pacing.endRead(bytes);
  }

  /** A text message came. Never throws. */
  onText(text: string): void {
    if (this.#state === 'closed') return;
    this.#logbook.heard();
    this.#pacing.take(text);
  }

  /** A ping came, in the read that is being parsed. */
  onPing(data: Buffer): void {
    this.#ping = data;
    this.#pacing.count();
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

  /** Agents clean what they read; an old one may not, and none has to be trusted. Told once for each tunnel, counted always. */
  #onCleaned(type: string, count: number): void {
    this.#deps.counters.cleanedMessages += 1;
    const fields = { agent_id: this.identity.agentId, team_id: this.identity.teamId, message_type: type, count };
    this.#deps.log[this.#toldCleaned ? 'debug' : 'warn'](fields, 'what routers say was no text or no fact in part, and was cleaned');
    this.#toldCleaned = true;
  }

  /** A binary message came: the tunnel has none. */
  onBinary(): void {
    this.close('protocol');
  }

  #isOpen(): boolean {
    return this.#state === 'settling' || this.#state === 'ready';
  }

  #receive(message: AgentMessage, bytes: number): void {
    switch (message.type) {
      case 'hello':
        this.#intake.push('ordered', bytes, () => this.#onHello(message));
        return;
      case 'ready':
        this.#intake.push('ordered', bytes, () => this.#onReady(message));
        // One that comes before welcome is ignored, and facts must not take its handling for the settling.
        if (this.#state === 'welcomed') this.#settled ??= this.#intake.done('ordered');
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
    const settled = this.#settled;
    // Before ready there is nothing an agent may say: what matters it repeats afterwards.
    if (!settled) this.#ignore(message.type);
    else if (message.type.startsWith('job.')) this.#intake.push('ordered', bytes, () => this.#tell(message));
    else if (!isWritten(message) && this.#state === 'ready') this.#tellNow(message);
    else {
      this.#announceInventory(message);
      this.#intake.push('facts', bytes, async () => {
        await settled;
        await this.#tell(message);
      });
    }
  }

  /** Heartbeats do not wait for the database; features that go by the order of what is said must know. */
  #announceInventory(message: EventMessage): void {
    const { connection } = this.#handshake;
    if (message.type === 'inventory' && connection && this.#announced)
      this.#deps.callbacks.events.onInventoryArrived?.(connection, message.router);
  }

  async #tell(message: EventMessage): Promise<void> {
    const { connection } = this.#handshake;
    if (connection && this.#announced) await tellFeatures(this.#deps.callbacks.events, connection, message);
  }

  /** Heartbeats and the like: the features take them in without waiting for anything. */
  #tellNow(message: EventMessage): void {
    this.#tell(message).catch((error: unknown) => this.#onFailure(error, 'facts'));
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

  /** Takes over from the agent's older session. @returns false when this session is over itself */
  #claim(welcome: Welcome): boolean {
    // The socket may have closed while the epoch was being raised.
    if (this.#state !== 'connecting') return false;
    this.#logbook.greeted(welcome);
    this.#older = this.#deps.place.claim(this);
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
    if (!this.#startSettling()) return;
    await this.#deps.callbacks.events.onReady(connection, connection.reset ? [] : ready.jobs);
    this.#finishSettling();
  }

  #startSettling(): boolean {
    if (this.#state !== 'welcomed') return false;
    this.#deadline?.cancel();
    this.#deadline = undefined;
    this.#older = undefined;
    this.#announced = true;
    this.#state = 'settling';
    this.#logbook.ready();
    return true;
  }

  #finishSettling(): void {
    if (this.#state !== 'settling') return;
    this.#state = 'ready';
    this.#outbox.release();
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

  /** The socket stays unread: whatever else is on its way is not worth parsing. `ws` cuts it after a moment. */
  #closeForAbuse(): void {
    this.#deps.counters.add('tunnel_abuse');
    const pauseMs = this.#budget.pauseMs(this.#deps.clock.monotonic());
    this.#deps.log.warn(
      { agent_id: this.identity.agentId, team_id: this.identity.teamId, duration_ms: pauseMs },
      'agent sent too many unreadable messages and has to stay away',
    );
    this.close('abuse', { reconnectAfterMs: pauseMs });
    this.#socket.pause();
  }

  #onHeld(ms: number): void {
    this.#deps.counters.add('tunnel_budget');
    this.#deps.log.info({ agent_id: this.identity.agentId, duration_ms: ms }, 'agent is read more slowly: it has used up its budget');
  }

  #ignore(type: string): void {
    this.ignored += 1;
    this.#deps.log.debug({ agent_id: this.identity.agentId, message_type: type.slice(0, 64) }, 'message ignored');
  }

  #send(message: ServerMessage): Sent {
    return this.#state === 'closed' ? 'closed' : this.#outbox.send(message);
  }

  #startDeadline(ms: number): void {
    this.#deadline?.cancel();
    this.#deadline = this.#deps.clock.setTimeout(() => this.close('handshakeTimeout'), ms);
  }

  /**
   * A callback failed. What was lost of the opening or of a job comes again with the next `ready`, so there must be one;
   * facts come again by themselves.
   */
  #onFailure(error: unknown, lane: LaneName): void {
    this.#deps.log.error({ err: error, agent_id: this.identity.agentId, epoch: this.claimedEpoch }, 'agent message not handled');
    if (lane === 'ordered') this.close('restart');
  }

  #onDead(): void {
    this.#deps.log.info({ agent_id: this.identity.agentId, reason: 'silent' }, 'agent connection is dead');
    this.#socket.terminate();
    this.#end('silence');
  }

  #end(endedBy: EndedBy): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#logbook.close(endedBy);
    this.#deadline?.cancel();
    this.#liveness.stop();
    this.#requests?.close();
    this.#pacing.stop();
    // A socket that is not read would never see the other side's half of the closing handshake.
    this.#valve.release('database');
    this.#deps.place.release(this);
    void this.#recordEnd().finally(this.#resolveEnded);
  }

  /** What was received before the end still counts: results are facts. */
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
