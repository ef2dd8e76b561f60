import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startAgent } from '../../agent/app.ts';
import type { RunningAgent } from '../../agent/app.ts';
import type { Clock } from '../../agent/core/clock.ts';
import { parseConfig } from '../../agent/config.ts';
import type { Log as AgentLog } from '../../agent/core/log.ts';
import { enrol } from '../../agent/link/enrol.ts';
import { checkConfig } from '../../server/config.ts';
import { startServer } from '../../server/compose/start.ts';
import type { RunningServer, ServerOverrides } from '../../server/compose/start.ts';
import { systemClock } from '../../server/platform/core/clock.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { startSimulator } from '../simulator/index.ts';
import type { Simulator, SimulatorOptions } from '../simulator/index.ts';
import { maySpread, NODES, SharedEngines } from './cluster/shared-engines.ts';
import { silentLog } from './silent-log.ts';
import { TERMINAL_USERS, terminalConfig } from './terminal-users.ts';
import { TRUSTED } from './reverse-proxy.ts';
import type { TlsFront } from './tls-front.ts';
import { waitUntil } from './wait-until.ts';

/** A person or program outside: one API key. */
export interface Caller {
  teamId: string;
  apiKey: string;
  call<T = Record<string, unknown>>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<T>>;
}

export interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
}

export interface WorldOptions {
  /** One simulated router each. */
  routers?: Partial<SimulatorOptions>[];
  server?: Record<string, string>;
  overrides?: ServerOverrides;
  databaseUrl?: string;
  /** Done to the routers before the agent sees them. */
  prepare?: (simulators: readonly Simulator[]) => void;
  agentLog?: AgentLog;
  /** The highest level of terminals. The routers get the users `term-read` and `term-full`. */
  terminal?: 'off' | 'read' | 'full';
  /** Of the agent. */
  agentClock?: Clock;
  /** TLS before the control plane: people and the agent go through it. */
  front?: TlsFront;
  /** false: one control plane, also with `TEST_NODES`. The test says why. */
  spread?: boolean;
  /** How often the agent reads health and devices of its routers; by default a minute. */
  readEveryMs?: number;
}

const PASSWORD = 'router-password';

/**
 * The whole product in one process over real sockets: control plane, one team with an API key, one agent, simulated
 * routers. Everything ends with {@link World.close}.
 */
export class World {
  readonly folder: string;
  readonly simulators: Simulator[] = [];
  server!: RunningServer;
  agent: RunningAgent | undefined;
  caller!: Caller;
  readonly #options: WorldOptions;
  /** What several control planes share, with `TEST_NODES`. */
  readonly #shared: SharedEngines | undefined;
  /** The further control planes. */
  readonly #companions: RunningServer[] = [];
  #databaseUrl = '';
  #turn = 0;

  private constructor(folder: string, options: WorldOptions, shared: SharedEngines | undefined) {
    this.folder = folder;
    this.#options = options;
    this.#shared = shared;
  }

  static async start(options: WorldOptions = {}): Promise<World> {
    const shared = options.front === undefined && maySpread(options) ? await SharedEngines.start(options.databaseUrl) : undefined;
    const world = new World(
      await mkdtemp(path.join(os.tmpdir(), 'signalbox-world-')),
      { ...options, ...(await shared?.settings(options)) },
      shared,
    );
    try {
      await world.#startAll();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  get front(): TlsFront | undefined {
    return this.#options.front;
  }

  get databaseUrl(): string {
    return this.#databaseUrl;
  }

  /** Where people and agents find the control plane. `server.url` is where it listens. */
  get origin(): string {
    return this.front?.url ?? this.server.url;
  }

  /** A further team with its own key, as `signalbox team create` and `key create` make them. */
  async addTeam(name: string): Promise<Caller> {
    const storage = await openStorage(this.#databaseUrl, { log: silentLog });
    try {
      const team = await new TeamsService({ storage, clock: systemClock }).createTeam(name);
      const { apiKey } = await this.server.services.credentials.createApiKey({ teamId: team.id, name: 'test', createdBy: null });
      return this.#callerOf(team.id, apiKey);
    } finally {
      await storage.close();
    }
  }

  /** Restarts the control plane on the same port and database. */
  async restartServer(): Promise<void> {
    const { port } = new URL(this.server.url);
    await this.server.close();
    await this.#startServer(port);
  }

  /**
   * A further control plane on the same PostgreSQL, in this process. The world must have been started with the settings of one of several
   * (`clusterSettings`). The test closes it before the world.
   */
  startMember(settings: Record<string, string> = {}, overrides: ServerOverrides = {}): Promise<RunningServer> {
    return this.#newServer('0', settings, overrides);
  }

  async startAgent(
    options: { server?: string; forwards?: object; state?: string; terminal?: 'off' | 'read' | 'full'; router?: object } = {},
  ): Promise<void> {
    const config = parseConfig(
      {
        server: options.server ?? this.#agentOrigin,
        ...(this.front === undefined ? {} : { server_ca: this.front.caFile }),
        credentials: 'credentials.json',
        state: options.state ?? 'agent-state',
        forwards: options.forwards ?? { allow: ['127.0.0.0/8'] },
        terminal: options.terminal ?? this.#options.terminal ?? 'off',
        routers: this.simulators.map((simulator, index) => ({
          ...routerConfig(simulator, index),
          ...(this.#options.terminal === undefined ? {} : { terminal: terminalConfig() }),
          ...options.router,
        })),
      },
      this.folder,
    );
    const { readEveryMs, agentClock, agentLog = silentLog } = this.#options;
    // The shortest pauses between dials: tests wait for what comes after.
    this.agent = await startAgent(config, {
      log: agentLog,
      random: () => 0,
      ...(readEveryMs === undefined ? {} : { readEveryMs }),
      ...(agentClock === undefined ? {} : { clock: agentClock }),
    });
  }

  /** Ids of the routers in the order of the simulators, as soon as every control plane lists all with a pulse. */
  async routerIds(): Promise<string[]> {
    const idsAt = async (server: RunningServer): Promise<(string | undefined)[]> => {
      const { body } = await this.callerAt(server).call<{ data: { id: string; identity: string; has_pulse: boolean }[] }>(
        'GET',
        '/api/routers',
      );
      return this.simulators.map((_, index) => body.data.find((router) => router.identity === identityOf(index) && router.has_pulse)?.id);
    };
    return waitUntil('all routers are listed with a pulse', async () => {
      const [ids, ...others] = await Promise.all(this.controlPlanes.map(idsAt));
      return [ids!, ...others].every((of) => of.every((id) => id !== undefined)) ? (ids as string[]) : undefined;
    });
  }

  async close(): Promise<void> {
    await this.agent?.close();
    await this.front?.close();
    for (const companion of this.#companions) await companion.close();
    await (this.server as RunningServer | undefined)?.close();
    await this.#shared?.close();
    for (const simulator of this.simulators) await simulator.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #startAll(): Promise<void> {
    this.#databaseUrl = this.#options.databaseUrl ?? `sqlite:${path.join(this.folder, 'signalbox.db')}`;
    for (const [index, router] of (this.#options.routers ?? [{}]).entries()) {
      this.simulators.push(
        await startSimulator({
          apiPort: 0,
          sshPort: 0,
          identity: identityOf(index),
          serialNumber: `SERIAL${index}`,
          users: [
            { name: 'signalbox', password: PASSWORD, group: 'full' },
            ...(this.#options.terminal === undefined ? [] : TERMINAL_USERS),
          ],
          ...router,
        }),
      );
    }
    this.#options.prepare?.(this.simulators);
    await this.#startServer('0');
    while (this.#shared && this.#companions.length < NODES - 1)
      // Links lead to one address, whichever control plane makes them.
      this.#companions.push(
        await this.startMember({
          SIGNALBOX_PUBLIC_URL: this.#options.server?.['SIGNALBOX_PUBLIC_URL'] ?? this.origin,
          ...(await this.#shared.nodeSettings()),
        }),
      );
    await this.#allKnown();
    await this.front?.open(this.server.url);
    this.caller = await this.addTeam('Test');
    if (this.simulators.length === 0) return;
    const { token } = await this.server.services.credentials.createEnrolToken({ teamId: this.caller.teamId, siteId: null });
    await enrol({ server: this.server.url, token, name: 'test', credentialsFile: path.join(this.folder, 'credentials.json') });
    await this.startAgent();
  }

  /** Until then two of them may do what one does for all, and both say so. */
  async #allKnown(): Promise<void> {
    const all = this.controlPlanes;
    if (all.length === 1) return;
    await waitUntil('all control planes know each other', () =>
      all.every(({ services }) => services.cluster!.members.ids.length === all.length),
    );
  }

  async #startServer(port: string): Promise<void> {
    this.server = await this.#newServer(port);
  }

  #newServer(port: string, settings: Record<string, string> = {}, overrides: ServerOverrides = {}): Promise<RunningServer> {
    const config = checkConfig({
      SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
      SIGNALBOX_SANDBOX_LISTEN: '127.0.0.1:0',
      SIGNALBOX_DATABASE_URL: this.#databaseUrl,
      SIGNALBOX_SECRET_KEY_FILE: path.join(this.folder, 'secret.key'),
      SIGNALBOX_RATE_LIMIT_PER_MINUTE: '100000',
      SIGNALBOX_ALLOW_PRIVATE_SOURCES: 'on',
      SIGNALBOX_ALLOW_LOOPBACK_WEBHOOKS: 'on',
      SIGNALBOX_FORWARD_PORTS: '21000-29999',
      SIGNALBOX_HEARTBEAT_SECONDS: '1',
      SIGNALBOX_OFFLINE_AFTER_SECONDS: '3',
      ...(this.front === undefined ? {} : { SIGNALBOX_PUBLIC_URL: this.front.url, SIGNALBOX_TRUST_PROXY: TRUSTED }),
      ...this.#options.server,
      ...settings,
    });
    return startServer(config, { log: silentLog, consoleFiles: null, ...this.#options.overrides, ...overrides });
  }

  /** With `TEST_NODES` an agent is connected to another control plane than the one whose services tests look at. */
  get #agentOrigin(): string {
    return this.#companions.at(-1)?.url ?? this.origin;
  }

  /** Several with `TEST_NODES`. */
  get controlPlanes(): readonly RunningServer[] {
    return [this.server, ...this.#companions];
  }

  /** Each request goes to the next control plane, as a balancer sends it. */
  #nextServer(): RunningServer {
    this.#turn += 1;
    return this.controlPlanes[this.#turn % this.controlPlanes.length]!;
  }

  /** The caller of the first team, at another control plane. */
  callerAt(server: RunningServer): Caller {
    return this.#callerOf(this.caller.teamId, this.caller.apiKey, server);
  }

  #callerOf(teamId: string, apiKey: string, server?: RunningServer): Caller {
    return {
      teamId,
      apiKey,
      call: async (method, url, body, headers = {}) => {
        const answer = await fetch(`${(server ?? this.#nextServer()).url}${url}`, {
          method,
          headers: { authorization: `Bearer ${apiKey}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          redirect: 'manual',
        });
        const text = await answer.text();
        const isJson = answer.headers.get('content-type')?.includes('json') === true;
        return {
          status: answer.status,
          headers: answer.headers,
          body: (isJson ? JSON.parse(text) : text === '' ? undefined : text) as never,
        };
      },
    };
  }
}

function identityOf(index: number): string {
  return `router-${index}`;
}

function routerConfig(simulator: Simulator, index: number): object {
  const login = { username: 'signalbox', password: PASSWORD };
  return {
    name: identityOf(index),
    host: '127.0.0.1',
    ...(simulator.apiPort === 0 ? {} : { api: { port: simulator.apiPort, ...login } }),
    ...(simulator.sshPort === 0 ? {} : { ssh: { port: simulator.sshPort, ...login } }),
  };
}
