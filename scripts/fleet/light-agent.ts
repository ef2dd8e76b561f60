import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { Dialer } from '../../agent/link/dialer.ts';
import { AGENT_VERSION } from '../../agent/version.ts';
import { Channel, MAX_DEVICES_PER_MESSAGE, MAX_MESSAGE_BYTES, SUBPROTOCOL, TUNNEL_PATH } from '../../protocol/index.ts';
import type { AgentMessage, ServerMessage, Welcome } from '../../protocol/index.ts';
import type { Behaviour } from './behaviour.ts';
import type { Credentials } from './enrol.ts';
import { LightJobs } from './light-jobs.ts';
import type { LightRouter } from './light-router.ts';
import { answerRequest } from './light-requests.ts';
import { virtualService } from './light-service.ts';
import type { Random } from './random.ts';

/** As the real agent reads health. */
const HEALTH_MS = 60_000;
/** Ceilings of the random pause before a dial (protocol/SPEC.md, Reconnecting). */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** A tunnel that was ready for so long resets the ceiling. */
const STEADY_MS = 30_000;
/** An agent that was killed starts again after this time, as a service manager does it. */
const RESTART_MS = 5000;

export interface LightAgentOptions {
  server: string;
  credentials: Credentials;
  routers: readonly LightRouter[];
  behaviour: Behaviour;
  random: Random;
  /** From which address it dials; undefined: the system chooses. */
  localAddress: string | undefined;
}

/** What a fleet counts of its agents. */
export interface AgentCounts {
  ready: number;
  dials: number;
  refused: number;
  requests: number;
}

/**
 * An agent that speaks the real protocol for routers that do not exist: dials and reconnects as the real one, reports facts, heartbeats,
 * health and devices, answers requests, runs jobs virtually and carries forwards to a virtual service. It validates nothing of what the
 * control plane says: it costs a fraction of a real agent.
 */
export class LightAgent {
  readonly #options: LightAgentOptions;
  readonly #counts: AgentCounts;
  readonly #routers: ReadonlyMap<string, LightRouter>;
  readonly #jobs: LightJobs;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #channels = new Set<Channel>();
  /** Channel tokens of open forwards. */
  readonly #forwards = new Map<string, string>();
  readonly #dialer: Dialer;
  #journalId = randomUUID();
  #epoch = 0;
  #socket: WebSocket | undefined;
  #isReady = false;
  #pauseMs = FIRST_PAUSE_MS;
  #isStopped = false;
  /** Timers of the present tunnel. */
  #ticks: NodeJS.Timeout[] = [];

  constructor(options: LightAgentOptions, counts: AgentCounts) {
    this.#options = options;
    this.#counts = counts;
    this.#routers = new Map(options.routers.map((router) => [router.name, router]));
    const { server, credentials } = options;
    this.#dialer = new Dialer({ server, agentId: credentials.agent_id, secret: credentials.secret });
    this.#jobs = new LightJobs({
      router: (name) => this.#routers.get(name),
      send: (message) => this.#send(message),
      later: (ms, run) => this.#later(ms, run),
      routerChanged: (router) => this.reportChange(router),
      slowness: () => (options.behaviour.slow ? 10 : 1),
    });
  }

  get routers(): readonly LightRouter[] {
    return this.#options.routers;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Dials within `spreadMs`, as a new process that knows of no earlier dials. */
  start(spreadMs = 0): void {
    this.#isStopped = false;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#later(this.#options.random() * spreadMs, () => this.#dial());
  }

  /** Says goodbye and ends; `start` begins again. */
  stop(): void {
    this.#isStopped = true;
    this.#send({ type: 'goaway', reason: 'restart', reconnect_after_ms: 0 });
    this.#socket?.close(1000);
    this.#dropTimers();
    for (const channel of this.#channels) channel.terminate('the agent stops');
  }

  /** Its line is cut without a word, and it dials again. */
  cut(): void {
    this.#socket?.terminate();
  }

  /** Its power goes, for so long. It comes back as a new process. */
  lose(ms: number): void {
    this.#isStopped = true;
    this.#dropTimers();
    this.#socket?.terminate();
    const timer = setTimeout(() => this.start(), ms + RESTART_MS);
    timer.unref();
  }

  /** Its disk is wiped: jobs that it held become unknown. */
  forget(): void {
    this.#jobs.forget();
    this.#epoch = 0;
    this.#journalId = randomUUID();
    this.cut();
  }

  /** A heartbeat of one router at once, as when its reachability changes; and its facts, which may have changed. */
  reportChange(router: LightRouter): void {
    this.#send({ type: 'heartbeat', routers: [router.heartbeat()] });
    if (!router.isAway) this.#send(router.inventory());
  }

  #dial(): void {
    if (this.#isStopped) return;
    this.#counts.dials += 1;
    const { server, credentials, behaviour, localAddress } = this.#options;
    const url = new URL(server.replace(/^http/, 'ws'));
    url.pathname = url.pathname.replace(/\/+$/, '') + TUNNEL_PATH;
    const socket = new WebSocket(url, SUBPROTOCOL, {
      headers: { authorization: `Bearer ${credentials.agent_id}:${credentials.secret}` },
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
      autoPong: !behaviour.silent,
      handshakeTimeout: 15_000,
      ...(localAddress === undefined ? {} : { localAddress }),
      // Nothing is bound to be random in front of a control plane of one's own.
      generateMask: () => undefined,
    });
    this.#socket = socket;
    const openedAt = performance.now();
    socket.on('open', () => this.#hello());
    socket.on('message', (data: Buffer) => this.#receive(JSON.parse(data.toString()) as ServerMessage));
    // `close` follows.
    socket.on('error', () => void (this.#counts.refused += 1));
    socket.on('close', () => this.#closed(socket, openedAt));
  }

  #closed(socket: WebSocket, openedAt: number): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    if (this.#isReady && performance.now() - openedAt > STEADY_MS) this.#pauseMs = FIRST_PAUSE_MS;
    this.#setReady(false);
    for (const tick of this.#ticks) clearInterval(tick);
    this.#ticks = [];
    if (this.#isStopped) return;
    this.#later(this.#options.random() * this.#pauseMs, () => this.#dial());
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  #hello(): void {
    this.#send({
      type: 'hello',
      versions: [1],
      agent_version: AGENT_VERSION,
      journal_id: this.#journalId,
      last_epoch: this.#epoch,
      routers: [...this.#routers.keys()],
    });
  }

  #receive(message: ServerMessage): void {
    switch (message.type) {
      case 'welcome':
        return this.#welcomed(message);
      case 'request':
        this.#counts.requests += 1;
        return this.#request(message);
      case 'job.offer':
        return this.#jobs.offered(message);
      case 'job.go':
        return this.#jobs.go(message.job_id);
      case 'job.ack':
        return this.#jobs.acknowledged(message.job_id);
      case 'job.revoke':
        return this.#jobs.revoked(message.job_id);
      case 'channel.dial':
        return this.#dialChannels(message.forward_id, message.count);
      // The control plane closes after a goaway, a cancelled request is answered all the same, and there are no terminals.
      default:
    }
  }

  #welcomed({ epoch, reset, settings }: Welcome): void {
    if (reset) {
      this.#journalId = randomUUID();
      this.#jobs.forget();
    }
    this.#epoch = epoch;
    this.#send({ type: 'ready', epoch, journal_id: this.#journalId, jobs: this.#jobs.open() });
    this.#setReady(true);
    const { behaviour, random } = this.#options;
    for (const router of this.#routers.values()) if (!router.isAway) this.#send(router.inventory());
    this.#beat();
    if (behaviour.silent) return;
    this.#every(settings.heartbeat_ms, () => this.#beat());
    // Not all of a fleet at once.
    this.#later(random() * HEALTH_MS, () => {
      if (!this.#isReady) return;
      this.#health();
      this.#devices();
      this.#every(HEALTH_MS, () => this.#health());
    });
    if (behaviour.flapping) this.#later((5 + random() * 55) * 1000, () => this.cut());
  }

  #beat(): void {
    this.#send({ type: 'heartbeat', routers: [...this.#routers.values()].map((router) => router.heartbeat()) });
  }

  #health(): void {
    for (const router of this.#present()) this.#send({ type: 'health', router: router.name, readings: router.readings() });
  }

  #devices(): void {
    for (const router of this.#present()) {
      const devices = router.devices().slice(0, MAX_DEVICES_PER_MESSAGE);
      this.#send({ type: 'devices', router: router.name, kind: 'full', first: true, last: true, devices, gone: [] });
    }
  }

  #present(): LightRouter[] {
    return [...this.#routers.values()].filter(({ isAway }) => !isAway);
  }

  #request(request: Extract<ServerMessage, { type: 'request' }>): void {
    const { behaviour, random } = this.#options;
    const ms = behaviour.slow ? 2000 + random() * 8000 : 2 + random() * 20;
    this.#later(ms, () => {
      for (const message of answerRequest(request, (name) => this.#routers.get(name))) this.#send(message);
      if (request.method === 'command') {
        const router = this.#routers.get(request.params.router);
        if (router && request.params.path === '/system/identity/set') this.reportChange(router);
      }
      if (request.method === 'forward.open') this.#openForward(request.params);
      if (request.method === 'forward.close') this.#forwards.delete(request.params.forward_id);
    });
  }

  #openForward({
    forward_id: id,
    channel_token: token,
    warm_channels: warm,
  }: {
    forward_id: string;
    channel_token: string;
    warm_channels: number;
  }): void {
    this.#forwards.set(id, token);
    this.#dialChannels(id, warm);
  }

  #dialChannels(forwardId: string, count: number): void {
    const token = this.#forwards.get(forwardId);
    if (token === undefined) return;
    for (let i = 0; i < count; i += 1) void this.#dialChannel(token);
  }

  /** Never rejects: the control plane asks again for a channel that it misses. */
  async #dialChannel(token: string): Promise<void> {
    const attach = (socket: ConstructorParameters<typeof Channel>[0]): Channel => {
      const channel: Channel = new Channel(socket, 'accepter', {
        onConnection: (connection) => connection.attach(virtualService()),
        onClosed: () => this.#channels.delete(channel),
      });
      this.#channels.add(channel);
      return channel;
    };
    await this.#dialer.dialChannel(token, attach).catch(() => undefined);
  }

  #send(message: AgentMessage): void {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return;
    // A silent agent connects and then says nothing.
    if (this.#options.behaviour.silent && this.#isReady) return;
    socket.send(JSON.stringify(message));
  }

  #setReady(isReady: boolean): void {
    if (isReady !== this.#isReady) this.#counts.ready += isReady ? 1 : -1;
    this.#isReady = isReady;
  }

  #every(ms: number, run: () => void): void {
    this.#ticks.push(setInterval(run, ms));
  }

  #later(ms: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, ms);
    this.#timers.add(timer);
  }

  #dropTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    for (const tick of this.#ticks) clearInterval(tick);
    this.#ticks = [];
  }
}
