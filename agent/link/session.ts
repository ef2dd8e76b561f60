import {
  CLOSE,
  decodeServerMessage,
  HELLO_TIMEOUT_MS,
  Liveness,
  MAX_OPEN_JOBS_PER_AGENT,
  PROTOCOL_VERSIONS,
} from '../../protocol/index.ts';
import { SerialQueue } from '../../runtime/serial-queue.ts';
import type { AgentMessage, RouterHeartbeat, ServerMessage, Welcome } from '../../protocol/index.ts';
import type { Timer } from '../core/clock.ts';
import { describeClose } from './connection-errors.ts';
import { handleJobMessage } from './job-messages.ts';
import { SendQueue } from './send-queue.ts';
import { Pings } from './pings.ts';
import { readyMessages } from './ready.ts';
import { ServedRequests } from './requests.ts';
import type { AgentNotice, EndedSession, JobServerMessage, LinkSocket, LinkSocketEvents, SessionDeps } from './types.ts';

/** Limit of job messages waiting for the journal: an offer and a go for every job that may be open. */
const MAX_WAITING_JOBS = 2 * MAX_OPEN_JOBS_PER_AGENT;

/** After goaway the server closes the connection; if it does not, this side does after this time, in milliseconds. */
const GOAWAY_CLOSE_MS = 5000;

/** Unreadable messages that are logged per session: enough to find the cause, too few to fill a disk. */
const MAX_UNREADABLE_LOGGED = 10;

/**
 * The agent's side of one tunnel, from hello to the end. Invariants:
 * - ready is sent only after the epoch is on disk, and only hello is sent before ready;
 * - job messages reach the host one after another; requests, pings and heartbeats never wait for them;
 * - in state `closed` all requests are aborted, and onDown follows every onReady.
 */
export class LinkSession implements LinkSocketEvents {
  /** Messages of unknown type, out of place or unreadable. */
  ignored = 0;
  #unreadable = 0;

  readonly #deps: SessionDeps;
  readonly #socket: LinkSocket;
  readonly #sendQueue: SendQueue;
  readonly #requests: ServedRequests;
  readonly #jobs: SerialQueue;
  readonly #ended = Promise.withResolvers<EndedSession>();
  #state: 'greeting' | 'adopting' | 'ready' | 'closed' = 'greeting';
  #epoch = 0;
  #readySince: number | undefined;
  #spreadMs: number | undefined;
  #goaway: { reason: string; reconnectAfterMs: number } | undefined;
  #last: EndedSession = { readyMs: 0, reason: '' };
  /** Deadline for welcome; later for the server's close after goaway. */
  #deadline: Timer;
  #heartbeat: Timer | undefined;
  #liveness: Liveness | undefined;
  readonly #pings: Pings;

  constructor(socket: LinkSocket, deps: SessionDeps) {
    this.#socket = socket;
    this.#deps = deps;
    this.#sendQueue = new SendQueue(socket, deps.log);
    this.#pings = new Pings(socket);
    const { host, clock, log } = deps;
    const port = {
      send: (message: AgentMessage, sent?: () => void) => this.#send(message, sent),
      get bufferedAmount() {
        return socket.bufferedAmount;
      },
    };
    this.#requests = new ServedRequests(host.requests, port, clock, log);
    this.#jobs = new SerialQueue((error) => {
      log.error({ err: error }, 'job message not handled');
    });
    this.#deadline = clock.setTimeout(() => this.#cut('no welcome in time'), HELLO_TIMEOUT_MS);
    this.#send({ type: 'hello', versions: [...PROTOCOL_VERSIONS], ...host.hello() });
  }

  /** The session's result; settles once the socket is closed. Never rejects. */
  get ended(): Promise<EndedSession> {
    return this.#ended.promise;
  }

  /** Epoch of a tunnel that is ready, otherwise undefined. */
  get epoch(): number | undefined {
    return this.#state === 'ready' ? this.#epoch : undefined;
  }

  /** @returns false when it was not sent: no ready tunnel, too large, or the server does not read */
  notify(message: AgentNotice): boolean {
    return this.#state === 'ready' && this.#send(message);
  }

  /** A heartbeat at once, with the routers that changed. */
  sendHeartbeat(routers: RouterHeartbeat[]): void {
    if (this.#state === 'ready') this.#send({ type: 'heartbeat', routers });
  }

  /** Resolves to true when the server answers a ping, to false when the tunnel is not ready or breaks first. */
  ping(): Promise<boolean> {
    return this.#state === 'ready' ? this.#pings.send() : Promise.resolve(false);
  }

  /** Settles when all open requests and waiting job messages are done. */
  async idle(): Promise<void> {
    await Promise.all([this.#requests.idle(), this.#jobs.idle]);
  }

  /** Sends goaway and closes. */
  closeGracefully(): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'ready') this.#send({ type: 'goaway', reason: 'restart', reconnect_after_ms: 0 });
    this.#close('normal');
  }

  /** Cuts the connection without goaway. */
  terminate(): void {
    this.#cut('cut by this agent');
  }

  onText(text: string): void {
    if (this.#state === 'closed') return;
    const decoded = decodeServerMessage(text);
    switch (decoded.kind) {
      case 'message':
        this.#guard(() => this.#receive(decoded.message));
        return;
      case 'unknown':
        this.ignored += 1;
        return;
      case 'invalid':
        this.#onInvalid(decoded.type, decoded.id, decoded.reason);
        return;
      case 'garbage':
        this.#deps.log.warn({ reason: decoded.reason }, 'the server does not speak this protocol');
        this.#close('protocol');
    }
  }

  onBinary(): void {
    this.#close('protocol');
  }

  onPong(mark: string): void {
    this.#pings.onPong(mark);
  }

  onClosed(code: number): void {
    this.#end(describeClose(code));
    this.#ended.resolve(this.#last);
  }

  #receive(message: ServerMessage): void {
    if (message.type === 'welcome') {
      this.#onWelcome(message);
      return;
    }
    if (message.type === 'goaway') {
      this.#onGoaway(message.reason, message.reconnect_after_ms);
      return;
    }
    if (this.#state !== 'ready') {
      this.ignored += 1;
      return;
    }
    switch (message.type) {
      case 'request':
        this.#requests.serve(message);
        return;
      case 'cancel':
        this.#requests.cancel(message.id);
        return;
      case 'router.waiting':
        this.#deps.host.onRouterWaiting?.(message.router, message.reason);
        return;
      case 'channel.dial':
        this.#deps.host.onChannelDial(message.forward_id, message.count, channelEnd(message));
        return;
      case 'terminal.resize':
        this.#deps.host.onTerminalResize(message);
        return;
      default:
        this.#onJob(message);
    }
  }

  #onJob(message: JobServerMessage): void {
    if (this.#jobs.length >= MAX_WAITING_JOBS) {
      this.#deps.log.warn({}, 'the server sends more job messages than jobs can be open');
      this.#close('protocol');
      return;
    }
    this.#jobs.push(() => handleJobMessage(this.#deps.host.jobs, message));
  }

  #onWelcome(welcome: Welcome): void {
    if (this.#state !== 'greeting') {
      this.ignored += 1;
      return;
    }
    this.#state = 'adopting';
    this.#deadline.cancel();
    this.#epoch = welcome.epoch;
    this.#spreadMs = welcome.settings.reconnect_spread_ms;
    const { clock, random } = this.#deps;
    this.#liveness = new Liveness({
      timers: clock,
      random,
      // Two silent periods end the tunnel, so each is half of silence_ms.
      periodMs: welcome.settings.silence_ms / 2,
      bytesRead: () => this.#socket.bytesRead,
      paused: () => false,
      ping: () => this.#socket.ping(),
      onDead: () => this.#cut('the control plane is silent'),
    });
    this.#adopt(welcome).catch((error: unknown) => {
      this.#deps.log.error({ err: error }, 'the epoch could not be stored');
      this.#close('restart');
    });
  }

  async #adopt(welcome: Welcome): Promise<void> {
    const { absence, host, clock } = this.#deps;
    const { epoch, reset, agent_id: agentId, settings } = welcome;
    const { journalId, jobs } = await host.adopt({ agentId, epoch, reset });
    if (this.#state !== 'adopting') return;
    const { ready, results } = readyMessages(epoch, journalId, jobs);
    this.#state = 'ready';
    this.#readySince = clock.monotonic();
    absence.back({ epoch });
    this.#send(ready);
    for (const result of results) this.#send(result);
    this.#sendHeartbeatEvery(settings.heartbeat_ms);
    host.onReady(epoch);
  }

  #sendHeartbeatEvery(ms: number): void {
    const { clock, host } = this.#deps;
    this.#heartbeat = clock.setTimeout(() => this.#sendHeartbeatEvery(ms), ms);
    this.#guard(() => this.#send({ type: 'heartbeat', routers: host.heartbeats() }));
  }

  /** An error of the host must not end the process from inside a callback of a socket or timer. */
  #guard(work: () => unknown): void {
    try {
      work();
    } catch (error) {
      this.#deps.log.error({ err: error }, 'the agent failed on a message of the tunnel');
    }
  }

  #onGoaway(reason: string, reconnectAfterMs: number): void {
    this.#goaway = { reason: `the control plane sent goaway: ${reason}`, reconnectAfterMs };
    if (reason === 'revoked') this.#deps.host.onRevoked();
    this.#deadline.cancel();
    this.#deadline = this.#deps.clock.setTimeout(() => this.#cut('still open after goaway'), GOAWAY_CLOSE_MS);
  }

  #onInvalid(type: string, id: number | undefined, reason: string): void {
    this.ignored += 1;
    this.#unreadable += 1;
    if (this.#unreadable <= MAX_UNREADABLE_LOGGED)
      this.#deps.log.warn({ message_type: type, reason }, 'unreadable message from the server');
    if (type === 'welcome') this.#close('protocol');
    else if (type === 'request' && id !== undefined) {
      this.#send({ type: 'reply', id, outcome: { ok: false, error: { code: 'invalid', message: 'the agent cannot read this request' } } });
    }
  }

  #send(message: AgentMessage, sent?: () => void): boolean {
    return this.#state !== 'closed' && this.#sendQueue.send(message, sent);
  }

  #close(reason: keyof typeof CLOSE): void {
    if (this.#state === 'closed') return;
    this.#socket.close(CLOSE[reason], reason);
    this.#end(`closed by this agent: ${reason}`);
  }

  #cut(reason: string): void {
    this.#socket.terminate();
    this.#end(reason);
  }

  #end(reason: string): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#deadline.cancel();
    this.#heartbeat?.cancel();
    this.#liveness?.stop();
    this.#requests.abortAll();
    this.#pings.end();
    const { clock, host } = this.#deps;
    if (this.#readySince !== undefined) this.#guard(() => host.onDown());
    const readyMs = this.#readySince === undefined ? 0 : clock.monotonic() - this.#readySince;
    this.#last = { readyMs, reason, spreadMs: this.#spreadMs, ...this.#goaway };
  }
}

/** Where channels are wanted, if not where those of the forward usually are. */
function channelEnd({
  channel_url: url,
  channel_token: token,
}: Extract<ServerMessage, { type: 'channel.dial' }>): { token: string; url: string } | undefined {
  return url === undefined || token === undefined ? undefined : { url, token };
}
