import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { WebSocketServer } from 'ws';
import { systemClock as agentClock } from '../../agent/core/clock.ts';
import { AgentError } from '../../agent/core/errors.ts';
import { AgentForwards } from '../../agent/forward/agent-forwards.ts';
import { Dialer } from '../../agent/link/dialer.ts';
import { StreamingWebSocket, SUBPROTOCOL, upgradeResponse } from '../../protocol/index.ts';
import { adoptWithPooledReads } from '../../runtime/pooled-reads.ts';
import type { AgentConnection, AgentGateway, Notice, RequestParams } from '../../server/platform/core/agent-gateway.ts';
import { systemClock } from '../../server/platform/core/clock.ts';
import type { Clock } from '../../server/platform/core/clock.ts';
import { AppError, notFound } from '../../server/platform/core/errors.ts';
import type { Log } from '../../server/platform/core/log.ts';
import { FORWARD_LIMITS } from '../../server/work/forwards/limits.ts';
import type { ForwardLimits } from '../../server/work/forwards/limits.ts';
import { ForwardsService } from '../../server/work/forwards/service.ts';
import type { ForwardRequest, ForwardSettings, ForwardTerms } from '../../server/work/forwards/types.ts';
import type { RouterRecord } from '../../server/fleet/routers/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { replyErrorToAppError } from '../../server/platform/tunnel/reply-errors.ts';
import { FakeRouter, HARDWARE_ID } from './fake-router.ts';
import { seedRouter } from './seed.ts';
import type { SeededRouter } from './seed.ts';
import { silentLog } from './silent-log.ts';

/** The tunnel cut short: requests go straight to the agentForwards of an agent in this process, channels over real WebSockets. */
class DirectGateway implements AgentGateway {
  /** Undefined while the agent is away. */
  agentForwards: AgentForwards | undefined;
  /** Agents besides that one, by id. */
  readonly others = new Map<string, AgentForwards>();
  currentEpoch = 1;

  async request<M extends Parameters<AgentGateway['request']>[1]>(
    agentId: string,
    method: M,
    params: RequestParams<M>,
    { timeoutMs }: { timeoutMs: number },
  ): Promise<never> {
    const agentForwards = this.others.get(agentId) ?? this.agentForwards;
    if (!agentForwards) throw new AppError('agent_offline', 'the agent is not connected');
    try {
      if (method === 'forward.open') return (await agentForwards.open(params as RequestParams<'forward.open'>, { timeoutMs })) as never;
      await agentForwards.close((params as RequestParams<'forward.close'>).forward_id);
      return {} as never;
    } catch (error) {
      if (error instanceof AgentError) throw replyErrorToAppError({ code: error.code, message: error.message });
      throw error;
    }
  }

  notify(_agentId: string, message: Notice): boolean {
    if (!this.agentForwards || message.type !== 'channel.dial') return false;
    this.agentForwards.dial(message.forward_id, message.count);
    return true;
  }

  async deliver(agentId: string, message: Notice): Promise<void> {
    this.notify(agentId, message);
  }

  epoch(): number | undefined {
    return this.agentForwards ? this.currentEpoch : undefined;
  }

  isConnected(): boolean {
    return this.agentForwards !== undefined;
  }

  disconnect(): void {
    this.agentForwards = undefined;
  }
}

export interface WorldOptions {
  clock?: Clock;
  limits?: Partial<ForwardLimits>;
  allowPrivateSources?: boolean;
  ports?: { from: number; to: number };
  settings?: Partial<ForwardSettings>;
  log?: Log;
  /** The server's end of the channels is the `ws` package's: both must understand each other. */
  stockWebSockets?: boolean;
}

/** Control plane and agent of the forwards in one process: real database, real WebSockets, real TCP on both sides. */
export class ForwardWorld {
  readonly gateway = new DirectGateway();
  readonly router = new FakeRouter();
  readonly storage: Storage;
  readonly folder: string;
  readonly seeded: SeededRouter;
  forwards: ForwardsService;
  readonly #options: WorldOptions;
  readonly #server = http.createServer();
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, handleProtocols: () => SUBPROTOCOL });
  readonly #closers: (() => unknown)[] = [];

  private constructor(options: WorldOptions, storage: Storage, folder: string, seeded: SeededRouter) {
    this.#options = options;
    this.storage = storage;
    this.folder = folder;
    this.seeded = seeded;
    this.forwards = this.#newService();
    this.#server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      const grant = this.forwards.authorizeChannel((request.headers.authorization ?? '').replace('Bearer ', ''));
      if (!grant) {
        socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n');
      } else if (this.#options.stockWebSockets) {
        this.#sockets.handleUpgrade(request, socket, head, (ws) => this.forwards.onChannel(grant, ws));
      } else {
        const transport = adoptWithPooledReads(socket as net.Socket);
        transport.write(upgradeResponse(request.headers)!);
        this.forwards.onChannel(grant, new StreamingWebSocket(transport, head, { role: 'server', plainMask: true }));
      }
    });
  }

  static async open(options: WorldOptions = {}): Promise<ForwardWorld> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-forwards-'));
    const storage = await openStorage(`sqlite:${path.join(folder, 'test.db')}`, { log: silentLog });
    await migrate(storage);
    const world = new ForwardWorld(options, storage, folder, await seedRouter(storage));
    world.#server.listen(0, '127.0.0.1');
    await once(world.#server, 'listening');
    world.connectAgent();
    await world.forwards.start();
    return world;
  }

  get connection(): AgentConnection {
    const { agentId, teamId } = this.seeded;
    return { agentId, teamId, epoch: this.gateway.currentEpoch, reset: false, address: '127.0.0.1' };
  }

  /** Where agents dial their channels. */
  get channelPort(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Starts an agent; its predecessor, if there is one, is forgotten without a goodbye. */
  connectAgent(port = this.channelPort): AgentForwards {
    const dialer = new Dialer({ server: `http://127.0.0.1:${port}`, agentId: this.seeded.agentId, secret: 'x' });
    const agentForwards = new AgentForwards({
      routers: new Map([[this.router.name, this.router]]),
      dialChannel: (token, attach, deadline) => dialer.dialChannel(token, attach, deadline),
      channelRefusal: () => undefined,
      allow: ['127.0.0.0/8', '192.168.0.0/16'],
      maxConnections: 1000,
      onLost: (id, reason) => this.forwards.onForwardLost(this.connection, id, reason),
      stateFolder: path.join(this.folder, 'agent'),
      clock: agentClock,
      log: silentLog,
    });
    agentForwards.start();
    this.gateway.agentForwards = agentForwards;
    this.#closers.push(() => agentForwards.stop());
    return agentForwards;
  }

  /** The control plane stops and starts again on the same database. */
  async restartServer(): Promise<void> {
    await this.forwards.stop();
    this.forwards = this.#newService();
    await this.forwards.start();
  }

  create(request: Partial<ForwardRequest> & { dstPort: number }): ReturnType<ForwardsService['create']> {
    const { teamId, routerId } = this.seeded;
    return this.forwards.create(
      teamId,
      routerId,
      { id: 'key' },
      { expireAfterMinutes: 10, dstAddress: '127.0.0.1', allowFrom: '127.0.0.1', ...request },
    );
  }

  change(id: string, terms: ForwardTerms): ReturnType<ForwardsService['change']> {
    return this.forwards.change(this.seeded.teamId, this.seeded.routerId, id, terms);
  }

  get(id: string): ReturnType<ForwardsService['get']> {
    return this.forwards.get(this.seeded.teamId, this.seeded.routerId, id);
  }

  /**
   * A TCP service on loopback; each accepted socket is handed to `serve`, except the first: that is the agent's check
   * whether the target answers. @returns its port
   */
  async target(serve: (socket: net.Socket) => void): Promise<number> {
    let checked = false;
    const server = net.createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => undefined);
      if (checked) serve(socket);
      checked = true;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#closers.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await this.forwards.stop();
    for (const close of this.#closers.reverse()) await close();
    this.#server.closeAllConnections();
    this.#server.close();
    await this.storage.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  #newService(): ForwardsService {
    const { clock = systemClock, limits = {}, allowPrivateSources = true, log = silentLog } = this.#options;
    return new ForwardsService({
      storage: this.storage,
      routers: { getRouter: (teamId, routerId) => this.#router(teamId, routerId) },
      gateway: this.gateway,
      clock,
      log,
      settings: {
        host: 'forward.example.net',
        listen: '127.0.0.1',
        ports: this.#options.ports ?? { from: 20_000, to: 60_000 },
        allowPrivateSources,
        idleSeconds: null,
        ...this.#options.settings,
      },
      limits: { ...FORWARD_LIMITS, ...limits },
    });
  }

  async #router(teamId: string, routerId: string): Promise<RouterRecord> {
    const record = await this.storage.db
      .selectFrom('routers')
      .selectAll()
      .where('team_id', '=', teamId)
      .where('id', '=', routerId)
      .executeTakeFirst();
    if (!record) throw notFound('router');
    return { ...record, agent_router: this.router.name, hardware_id: HARDWARE_ID };
  }
}
