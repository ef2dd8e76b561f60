import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { enrol } from '../../../agent/link/enrol.ts';
import { CredentialsService } from '../../../server/access/credentials/service.ts';
import { systemClock } from '../../../server/platform/core/clock.ts';
import { openStorage } from '../../../server/platform/storage/open.ts';
import { TeamsService } from '../../../server/access/teams/service.ts';
import type { TestDatabase } from '../databases.ts';
import type { Chance } from '../jobs/random.ts';
import type { PostgresServer } from '../postgres-server.ts';
import { Program } from '../program.ts';
import { silentLog } from '../silent-log.ts';
import { waitUntil } from '../wait-until.ts';
import { AgentMachine, compileCache } from './agent-machine.ts';
import { ChaosCluster } from './chaos-cluster.ts';
import { FLEET_LOGIN, Fleet } from './fleet.ts';
import { Line } from './line.ts';
import { Volume } from './volume.ts';

/** The routers of each agent. */
const AGENTS = [
  [0, 1, 2],
  [3, 4, 5],
];
/** Probability that a message about a job is duplicated. */
const REPEATED = 0.05;
/** Size of a disk for a small database and its log. */
const DATA_MEGABYTES = 128;
const START_MS = 180_000;
const ANSWER_MS = 5000;
/** The control plane starts in this time on a quiet machine, milliseconds. */
const QUIET_START_MS = 2000;
/** Limit of the slowdown factor that the timeouts allow for. */
const SLOWEST = 2;

export interface Answer {
  status: number;
  link: string | null;
  body: unknown;
}

export interface ChaosDatabase extends TestDatabase {
  /** The database's own server, which may be restarted. */
  postgres?: PostgresServer;
}

export interface WorldOptions {
  chance: Chance;
  /** Several control planes on a PostgreSQL server of their own, as `signalbox serve`; one by default, with a clock that can be set wrong. */
  nodes?: number | undefined;
  /** Undefined: SQLite on a disk of its own. */
  database: ChaosDatabase | undefined;
  /** Replaces the control plane, for runs that must fail. */
  serverProgram?: string;
}

interface Parts {
  folder: string;
  /** Of each control plane. */
  ports: readonly number[];
  servers: readonly Program[];
  cluster: ChaosCluster | undefined;
  database: ChaosDatabase;
  fleet: Fleet;
  data: Volume;
  agents: AgentMachine[];
  /** To each router's API and SSH. */
  routerLines: Line[][];
}

/** Control plane, agents and routers as separate processes, with a breakable connection between each pair. */
export class ChaosWorld {
  readonly servers: readonly Program[];
  /** Undefined for one control plane alone. */
  readonly cluster: ChaosCluster | undefined;
  readonly fleet: Fleet;
  readonly agents: readonly AgentMachine[];
  readonly routerLines: readonly Line[][];
  /** The disk of the control plane's database. */
  readonly data: Volume;
  routerIds: string[] = [];
  /** Slowdown of this machine against a quiet one, measured at the first start of the control plane. */
  slowness = 1;
  readonly #parts: Parts;
  #apiKey = '';
  #turn = 0;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.fleet = parts.fleet;
    this.agents = parts.agents;
    this.routerLines = parts.routerLines;
    this.data = parts.data;
    this.servers = parts.servers;
    this.cluster = parts.cluster;
  }

  static async start({ chance, nodes = 1, database, serverProgram }: WorldOptions): Promise<ChaosWorld> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-chaos-'));
    const data = await Volume.create(path.join(folder, 'data'), DATA_MEGABYTES);
    const shared = database ?? { url: `sqlite:${path.join(data.folder, 'signalbox.db')}`, remove: () => Promise.resolve() };
    const cluster = nodes > 1 ? await ChaosCluster.start(nodes, shared.postgres!) : undefined;
    const ports = cluster ? cluster.nodes.map(({ port }) => port) : [await freePort()];
    const port = cluster ? cluster.balancer.port : ports[0]!;
    const fleet = await Fleet.start();
    const routerLines = await Promise.all(fleet.ports.map(({ api, ssh }) => Promise.all([Line.start(api), Line.start(ssh)])));
    const world = new ChaosWorld({
      folder,
      ports,
      servers: cluster
        ? cluster.nodes.map((node) => new Program('server/main.ts', ['serve'], { ...settingsIn(folder), ...cluster.settingsOf(node) }))
        : [aloneServer(folder, { port: ports[0]!, databaseUrl: shared.url, program: serverProgram })],
      cluster,
      fleet,
      data,
      routerLines,
      database: shared,
      agents: await Promise.all(
        AGENTS.map((routers, index) => createAgent(path.join(folder, `agent-${index}`), { port, chance, routers, fleet, routerLines })),
      ),
    });
    try {
      await world.#begin();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  async #begin(): Promise<void> {
    await this.setServerClock(0);
    const startedAt = performance.now();
    // The first one makes the tables and the keys.
    for (const [index, server] of this.servers.entries()) {
      server.start();
      await waitUntil('the control plane answers', () => this.#isUp(index), START_MS);
    }
    this.slowness = Math.min(Math.max((performance.now() - startedAt) / this.servers.length / QUIET_START_MS, 1), SLOWEST);
    const team = await createTeam(this.#parts.database.url, this.agents.length);
    this.#apiKey = team.apiKey;
    for (const [index, agent] of this.agents.entries()) {
      await enrol({ server: this.#urlOf(0), token: team.tokens[index]!, name: `agent ${index}`, credentialsFile: agent.credentialsFile });
      agent.program.start();
    }
    this.routerIds = await waitUntil('all routers have a pulse', () => this.#findRouters(), START_MS);
  }

  async #isUp(index: number): Promise<boolean | undefined> {
    return (await fetch(`${this.#urlOf(index)}/readyz`).catch(() => undefined))?.ok;
  }

  async #findRouters(): Promise<string[] | undefined> {
    const { body } = await this.call('GET', '/api/routers');
    const { data } = body as { data: { id: string; identity: string; has_pulse: boolean }[] };
    const ids = this.fleet.ports.map(
      (_, index) => data.find(({ identity, has_pulse: alive }) => alive && identity === `router-${index}`)?.id,
    );
    return ids.every((id) => id !== undefined) ? ids : undefined;
  }

  /** As a customer calls: gives up after a few seconds. Rejects when the control plane cannot be reached. */
  async call(method: string, route: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    // As a balancer without health checks: each request goes to the next control plane, whatever its state.
    this.#turn += 1;
    const answer = await fetch(this.#urlOf(this.#turn % this.servers.length) + route, {
      method,
      signal: AbortSignal.timeout(ANSWER_MS),
      headers: { authorization: `Bearer ${this.#apiKey}`, ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: answer.status, link: answer.headers.get('link'), body: await answer.json() };
  }

  /** Not where the database is a server elsewhere, or no small disk can be mounted. */
  get canFillData(): boolean {
    return this.data.canBeFilled && this.#parts.database.url.includes(this.data.folder);
  }

  get postgres(): PostgresServer | undefined {
    return this.#parts.database.postgres;
  }

  /** Programs that exited unasked. */
  get unaskedEnds(): string[] {
    const programs: [string, Program[]][] = [
      ...this.servers.map((server, index): [string, Program[]] => [this.cluster ? `server ${index}` : 'server', [server]]),
      ...this.agents.map(({ programs: own }, index): [string, Program[]] => [`agent ${index}`, own]),
    ];
    const ends = programs.flatMap(([name, own]) =>
      own.flatMap(({ unaskedEnds }) => unaskedEnds.map((end) => `${name}: ${JSON.stringify(end)}`)),
    );
    return this.fleet.unaskedEnd === undefined ? ends : [...ends, `routers: ${this.fleet.unaskedEnd}`];
  }

  async setServerClock(errorMs: number): Promise<void> {
    await writeFile(path.join(this.#parts.folder, 'clock'), String(errorMs));
  }

  async close(): Promise<void> {
    for (const server of this.servers) await server.kill();
    for (const agent of this.agents) await agent.remove();
    await this.fleet.stop();
    for (const line of this.routerLines.flat()) await line.close();
    await this.cluster?.close();
    await this.#parts.database.remove();
    await this.data.remove();
    await rm(this.#parts.folder, { recursive: true, force: true });
  }

  #urlOf(index: number): string {
    return `http://127.0.0.1:${this.#parts.ports[index]}`;
  }
}

function settingsIn(folder: string): Record<string, string> {
  return {
    ...compileCache(folder),
    SIGNALBOX_SANDBOX_LISTEN: '',
    SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
    SIGNALBOX_RATE_LIMIT_PER_MINUTE: '1000000',
    SIGNALBOX_HEARTBEAT_SECONDS: '1',
    SIGNALBOX_OFFLINE_AFTER_SECONDS: '3',
  };
}

interface Alone {
  port: number;
  databaseUrl: string;
  program: string | undefined;
}

function aloneServer(folder: string, { port, databaseUrl, program = 'test/harness/chaos/programs/server.ts' }: Alone): Program {
  return new Program(program, [path.join(folder, 'clock')], {
    ...settingsIn(folder),
    SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
    SIGNALBOX_DATABASE_URL: databaseUrl,
  });
}

interface AgentParts {
  port: number;
  chance: Chance;
  routers: number[];
  fleet: Fleet;
  routerLines: Line[][];
}

async function createAgent(folder: string, { port, chance, routers, fleet, routerLines }: AgentParts): Promise<AgentMachine> {
  await mkdir(folder);
  const line = await Line.start(port, () => chance.happens(REPEATED));
  const routerConfigs = routers.map((index) => {
    const [api, ssh] = routerLines[index]!;
    const { api: hasApi, ssh: hasSsh } = fleet.ports[index]!;
    return {
      name: `router-${index}`,
      host: '127.0.0.1',
      ...(hasApi === 0 ? {} : { api: { port: api!.port, ...FLEET_LOGIN } }),
      ...(hasSsh === 0 ? {} : { ssh: { port: ssh!.port, ...FLEET_LOGIN } }),
    };
  });
  return AgentMachine.create(folder, { line, routers: routerConfigs });
}

async function createTeam(databaseUrl: string, agents: number): Promise<{ apiKey: string; tokens: string[] }> {
  const storage = await openStorage(databaseUrl, { log: silentLog });
  const auth = new CredentialsService({ storage, clock: systemClock, log: silentLog });
  try {
    const { id: teamId } = await new TeamsService({ storage, clock: systemClock }).createTeam('Chaos');
    const { apiKey } = await auth.createApiKey({ teamId, name: 'chaos', createdBy: null });
    const tokens: string[] = [];
    for (let index = 0; index < agents; index += 1) tokens.push((await auth.createEnrolToken({ teamId, siteId: null })).token);
    return { apiKey, tokens };
  } finally {
    await auth.stop();
    await storage.close();
  }
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
