import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { enrol } from '../../../agent/link/enrol.ts';
import { CredentialsService } from '../../../server/access/credentials/service.ts';
import { TeamsService } from '../../../server/access/teams/service.ts';
import { systemClock } from '../../../server/platform/core/clock.ts';
import { openStorage } from '../../../server/platform/storage/open.ts';
import { compileCache } from '../chaos/agent-machine.ts';
import type { TestDatabase } from '../databases.ts';
import { Program } from '../program.ts';
import { silentLog } from '../silent-log.ts';
import { waitUntil } from '../wait-until.ts';
import { ChaosAgent, ChaosRouter } from './chaos-agent.ts';

const AGENTS = 4;
const ROUTERS_OF_AGENT = 2;
/** A start on a machine that others use as well, milliseconds. */
const START_MS = 300_000;
const ANSWER_MS = 20_000;
/** Of a control plane that starts or stops. */
const AWAY = [502, 503];

/** The state of a router, as the API shows it. */
export interface ShownState {
  state: string;
  state_since: string;
  state_reason: string | null;
}

export interface FleetAnswer<Body> {
  status: number;
  position: string | null;
  body: Body;
}

/** The control plane is there, and does not answer as it should. */
export class WrongAnswer extends Error {}

/** Control plane and agents as processes, to be killed; routers and lines are in this one. */
export class ChaosFleet {
  readonly server: Program;
  readonly url: string;
  agents: readonly ChaosAgent[] = [];
  /** When the control plane was killed last, by `performance.now`. */
  killedAt = Number.NEGATIVE_INFINITY;
  /** How often readers of the event stream had to be told that they have lost events, at most: by a kill, or by a step of the clock. */
  breaks = 0;
  #apiKey = '';
  readonly #folder: string;
  readonly #port: number;
  readonly #databaseUrl: string;

  private constructor({ folder, port, databaseUrl, program }: { folder: string; port: number; databaseUrl: string; program: string }) {
    this.#folder = folder;
    this.#port = port;
    this.#databaseUrl = databaseUrl;
    this.url = `http://127.0.0.1:${port}`;
    this.server = new Program(program, [path.join(folder, 'clock')], {
      ...compileCache(folder),
      SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: databaseUrl,
      SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
      SIGNALBOX_RATE_LIMIT_PER_MINUTE: '1000000',
      SIGNALBOX_HEARTBEAT_SECONDS: '1',
      SIGNALBOX_OFFLINE_AFTER_SECONDS: '3',
    });
  }

  /** Resolves when all routers answer. @param program replaces the control plane, for runs that must fail */
  static async start(database: TestDatabase, program = 'test/harness/states/programs/server.ts'): Promise<ChaosFleet> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-states-'));
    const fleet = new ChaosFleet({ folder, port: await freePort(), databaseUrl: database.url, program });
    try {
      await fleet.#begin();
      return fleet;
    } catch (error) {
      await fleet.close();
      throw error;
    }
  }

  get routers(): ChaosRouter[] {
    return this.agents.flatMap(({ routers }) => routers);
  }

  /** SIGKILL. */
  async killServer(): Promise<void> {
    this.killedAt = performance.now();
    this.breaks += 1;
    await this.server.kill();
  }

  /** Resolves when it answers. */
  async startServer(): Promise<void> {
    this.server.start();
    await waitUntil('the control plane answers', async () => (await fetch(`${this.url}/healthz`).catch(() => undefined))?.ok, START_MS);
  }

  /** Sets the control plane's clock wrong by this many milliseconds. */
  async setServerClock(errorMs: number): Promise<void> {
    this.breaks += 1;
    await writeFile(path.join(this.#folder, 'clock'), String(errorMs));
  }

  /** The data of an answer. Rejects while the control plane cannot be reached, starts or stops. @throws WrongAnswer for any other answer */
  async read<Data>(route: string): Promise<Data> {
    const { status, body } = await this.get<{ data: Data }>(route);
    if (status !== 200) throw refusalOf(route, status, body);
    return body.data;
  }

  /** Rejects while the control plane cannot be reached. */
  async get<Body>(route: string): Promise<FleetAnswer<Body>> {
    const answer = await fetch(this.url + route, { headers: this.headers, signal: AbortSignal.timeout(ANSWER_MS) });
    return { status: answer.status, position: answer.headers.get('x-event-id'), body: (await answer.json()) as Body };
  }

  get headers(): Record<string, string> {
    return { authorization: `Bearer ${this.#apiKey}` };
  }

  /** Programs that ended without being asked to. */
  get unaskedEnds(): string[] {
    const programs: [string, Program][] = [
      ['server', this.server],
      ...this.agents.map((agent): [string, Program] => [agent.name, agent.program]),
    ];
    return programs.flatMap(([name, { unaskedEnds }]) => unaskedEnds.map((end) => `${name}: ${JSON.stringify(end)}`));
  }

  async close(): Promise<void> {
    await this.server.kill();
    for (const agent of this.agents) await agent.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #begin(): Promise<void> {
    await writeFile(path.join(this.#folder, 'clock'), '0');
    await this.startServer();
    const { apiKey, tokens } = await this.#createTeam();
    this.#apiKey = apiKey;
    const agents: ChaosAgent[] = [];
    this.agents = agents;
    for (const [index, token] of tokens.entries()) {
      const routers: ChaosRouter[] = [];
      for (let of = 0; of < ROUTERS_OF_AGENT; of += 1) routers.push(await ChaosRouter.start(`chaos-${index}-${of}`));
      const name = `gateway ${index}`;
      const agent = await ChaosAgent.create(path.join(this.#folder, `agent-${index}`), { name, port: this.#port, routers });
      agents.push(agent);
      await enrol({ server: this.url, token, name, credentialsFile: agent.credentialsFile });
      agent.program.start();
    }
    await waitUntil('all routers answer', () => this.#findRouters(), START_MS);
  }

  async #findRouters(): Promise<boolean> {
    const { body } = await this.get<{ data: (ShownState & { id: string; identity: string })[] }>('/api/routers');
    for (const router of this.routers) router.id = body.data.find(({ identity }) => identity === router.name)?.id ?? '';
    return body.data.filter(({ state }) => state === 'answering').length === this.routers.length;
  }

  async #createTeam(): Promise<{ apiKey: string; tokens: string[] }> {
    const storage = await openStorage(this.#databaseUrl, { log: silentLog });
    const credentials = new CredentialsService({ storage, clock: systemClock, log: silentLog });
    try {
      const { id: teamId } = await new TeamsService({ storage, clock: systemClock }).createTeam('Chaos');
      const { apiKey } = await credentials.createApiKey({ teamId, name: 'chaos', createdBy: null });
      const tokens: string[] = [];
      for (let index = 0; index < AGENTS; index += 1) tokens.push((await credentials.createEnrolToken({ teamId, siteId: null })).token);
      return { apiKey, tokens };
    } finally {
      await credentials.stop();
      await storage.close();
    }
  }
}

/** The error of an answer that is no success. */
export function refusalOf(route: string, status: number, body: unknown): Error {
  const what = `${route} was answered with ${status}: ${JSON.stringify(body)}`;
  return AWAY.includes(status) ? new Error(what) : new WrongAnswer(what);
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
