import { randomUUID } from 'node:crypto';
import { Journal } from '../../../agent/jobs/journal/journal.ts';
import type { JournalDisk } from '../../../agent/jobs/journal/disk.ts';
import { JobRunner } from '../../../agent/jobs/runner.ts';
import type { Notice } from '../../../server/platform/core/agent-gateway.ts';
import { AgentEpochs } from '../../../server/fleet/agents/epochs.ts';
import { JobsService } from '../../../server/work/jobs/service.ts';
import { DEFAULT_JOB_RULES } from '../../../server/work/jobs/types.ts';
import type { JobRecord, NewJob } from '../../../server/work/jobs/types.ts';
import { RoutersService } from '../../../server/fleet/routers/service.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import type { AgentMessage, ServerMessage } from '../../../protocol/index.ts';
import { ManualClock } from '../manual-clock.ts';
import { seedAgent, seedRouter, seedTeam } from '../seed.ts';
import { silentLog } from '../silent-log.ts';
import { MemoryDisk } from './memory-disk.ts';
import { Mortal, MortalClock, MortalDisk, mortalStorage } from './process.ts';
import type { Chance } from './random.ts';
import { turns } from './random.ts';
import { ScriptedAdapter, ScriptedRouter } from './scripted-router.ts';
import { FakeTunnel } from './tunnel.ts';

export interface RouterSite {
  id: string;
  name: string;
  router: ScriptedRouter;
}

/** A machine with an agent on it: disk and routers outlive its processes. */
export class AgentSite {
  readonly id: string;
  readonly routers: RouterSite[] = [];
  readonly disk = new MemoryDisk();
  process: AgentProcess | undefined;
  tunnel: FakeTunnel | undefined;

  constructor(id: string) {
    this.id = id;
  }
}

class AgentProcess extends Mortal {
  readonly disk: MortalDisk;
  runner: JobRunner | undefined;
  send: ((message: AgentMessage) => boolean) | undefined;

  constructor(disk: MemoryDisk) {
    super();
    this.disk = new MortalDisk(disk, this);
  }
}

class ServerProcess extends Mortal {
  readonly tunnels = new Map<string, { tunnel: FakeTunnel; send: (message: ServerMessage) => boolean }>();
  readonly epochs: AgentEpochs;
  readonly jobs: JobsService;

  constructor(storage: Storage, clock: ManualClock, chance: Chance) {
    super();
    const own = mortalStorage(storage, this);
    const ownClock = new MortalClock(clock, this);
    const routers = new RoutersService({ storage: own, clock: ownClock, log: silentLog, rules: { offlineAfterMs: 90_000 } });
    this.epochs = new AgentEpochs(own, ownClock);
    this.jobs = new JobsService({
      storage: own,
      gateway: { notify: (agentId, message) => this.#notify(agentId, message) },
      routers,
      clock: ownClock,
      log: silentLog,
      rules: DEFAULT_JOB_RULES,
      notifyUrls: { allowLoopback: false },
      random: () => chance.next(),
    });
    this.jobs.start();
  }

  #notify(agentId: string, message: Notice): boolean {
    return !this.dead && (this.tunnels.get(agentId)?.send(message) ?? false);
  }
}

/** Lets a test take a guard away. */
export interface Guards {
  /** What the agent's journal writes to. */
  disk?: (disk: JournalDisk) => JournalDisk;
  /** False: routers lose the run marker. */
  markers?: boolean;
}

/**
 * Control plane and agents with everything real between the HTTP edge and the router adapter, and everything around
 * them breakable at every step. Time stands still until it is moved.
 */
export class JobWorld {
  readonly clock = new ManualClock();
  readonly agents: AgentSite[] = [];
  readonly chance: Chance;
  teamId = '';
  server: ServerProcess;
  readonly #storage: Storage;
  readonly #guards: Guards;

  private constructor(storage: Storage, chance: Chance, guards: Guards) {
    this.#storage = storage;
    this.chance = chance;
    this.#guards = guards;
    this.server = this.#newServer();
  }

  static async create(storage: Storage, chance: Chance, shape: readonly number[], guards: Guards = {}): Promise<JobWorld> {
    const world = new JobWorld(storage, chance, guards);
    world.teamId = (await seedTeam(storage)).teamId;
    for (const routers of shape) await world.#addAgent(routers);
    return world;
  }

  async #addAgent(routers: number): Promise<void> {
    const site = new AgentSite(await seedAgent(this.#storage, this.teamId));
    for (let index = 0; index < routers; index += 1) {
      const { routerId } = await seedRouter(this.#storage, { teamId: this.teamId, agentId: site.id });
      const router = new ScriptedRouter(`serial ${routerId}`, this.clock, this.chance);
      router.keepsMarkers = this.#guards.markers ?? true;
      site.routers.push({ id: routerId, name: `router ${routerId}`, router });
    }
    this.agents.push(site);
  }

  get routers(): RouterSite[] {
    return this.agents.flatMap((site) => site.routers);
  }

  createJob(routerId: string, wanted: Partial<NewJob> = {}): Promise<JobRecord> {
    const job: NewJob = {
      description: 'test',
      script: 'run 1000 ok',
      makeBackup: false,
      expressExecute: true,
      needsAcknowledgement: true,
      notifyUrl: undefined,
      timeoutSeconds: undefined,
      deliverWithinMinutes: undefined,
      ...wanted,
    };
    return this.server.jobs.createJob(this.teamId, routerId, job, { requestId: 'r', idempotencyKey: randomUUID(), keyGiven: false });
  }

  #newServer(): ServerProcess {
    return new ServerProcess(this.#storage, this.clock, this.chance);
  }

  killServer(): void {
    this.server.dead = true;
    for (const { tunnel } of this.server.tunnels.values()) tunnel.close();
    this.server = this.#newServer();
  }

  async startAgent(site: AgentSite): Promise<void> {
    const process = new AgentProcess(site.disk);
    site.process = process;
    const disk = this.#guards.disk?.(process.disk) ?? process.disk;
    const journal = await Journal.open(disk);
    await process.alive();
    process.runner = new JobRunner({
      journal,
      routers: new Map(site.routers.map(({ name, router }) => [name, new ScriptedAdapter(name, router, process)])),
      send: (message) => void process.send?.(message),
      isAlive: () => Promise.resolve(site.tunnel?.isOpen === true && this.server.tunnels.has(site.id)),
      clock: new MortalClock(this.clock, process),
      log: silentLog,
    });
    process.runner.start();
  }

  killAgent(site: AgentSite): void {
    if (!site.process) return;
    site.process.dead = true;
    site.process.disk.tear(this.chance);
    site.process = undefined;
    site.tunnel?.close();
    // Its sessions with the routers end with it.
    for (const { router } of site.routers) router.breakSessions();
  }

  /** Dials, as the agent does again and again. May come to nothing at every step. */
  async connect(site: AgentSite): Promise<void> {
    const { process } = site;
    const { server } = this;
    const runner = process?.runner;
    if (!process || !runner || process.dead) return;
    const tunnel = new FakeTunnel(this.chance);
    site.tunnel?.close();
    site.tunnel = tunnel;
    const hello = {
      type: 'hello',
      versions: [1],
      agent_version: '1',
      journal_id: runner.journalId,
      last_epoch: runner.lastEpoch,
      routers: [],
    } as const;
    const session = await server.epochs.assign({ agentId: site.id, credential: '', hello: { ...hello, versions: [1], routers: [] } });
    if (!session || !tunnel.isOpen) return;
    await turns(this.chance.int(0, 3));
    const { journalId, jobs } = await runner.adopt(session.epoch, session.reset);
    await process.alive();
    // Dialled again meanwhile.
    if (!tunnel.isOpen) return;
    const settled = Promise.withResolvers<void>();
    const connection = { agentId: site.id, teamId: this.teamId, epoch: session.epoch, address: '', reset: session.reset };
    // As in the link: from `ready` on whatever is said goes out behind it.
    process.send = tunnel.direction<AgentMessage>((message) => settled.promise.then(() => toService(server, connection, message)));
    await turns(this.chance.int(0, 3));
    if (!tunnel.isOpen || server.dead) return tunnel.close();
    const isNewest = await server.epochs.confirm(site.id, session.epoch, journalId);
    if (!isNewest || !tunnel.isOpen) return tunnel.close();
    server.tunnels.get(site.id)?.tunnel.close();
    const toAgent = tunnel.direction<ServerMessage>((message) => settled.promise.then(() => toRunner(runner, process, message)));
    server.tunnels.set(site.id, { tunnel, send: toAgent });
    let isReady = false;
    tunnel.onClose(() => {
      if (server.tunnels.get(site.id)?.tunnel === tunnel) server.tunnels.delete(site.id);
      if (isReady && !server.dead) server.jobs.onGone(connection);
    });
    await server.jobs.onReady(connection, jobs).catch(() => tunnel.close());
    await server.alive();
    isReady = true;
    settled.resolve();
    if (!tunnel.isOpen) server.jobs.onGone(connection);
  }

  /** Heartbeats of all tunnels. */
  beat(): void {
    for (const site of this.agents) {
      if (!this.server.tunnels.has(site.id)) continue;
      const routers = site.routers.map(({ name, router }) => ({ name, reachable: router.reachable, uptime_seconds: null, reason: null }));
      const connection = { agentId: site.id, teamId: this.teamId, epoch: 0, address: '', reset: false };
      this.server.jobs.onHeartbeat(connection, { type: 'heartbeat', routers });
    }
  }

  /** Lets a database in another process keep up: everything else here happens within turns of the event loop. */
  async breathe(): Promise<void> {
    if (this.#storage.engine === 'postgres') await this.#storage.db.selectFrom('teams').select('id').execute();
  }

  jobs(): Promise<JobRecord[]> {
    return this.#storage.db.selectFrom('jobs').selectAll().where('team_id', '=', this.teamId).execute();
  }
}

async function toRunner(runner: JobRunner, process: AgentProcess, message: ServerMessage): Promise<void> {
  await process.alive();
  if (message.type === 'job.offer') await runner.onOffer(message);
  if (message.type === 'job.go') await runner.onGo(message.job_id);
  if (message.type === 'job.ack') await runner.onAck(message.job_id);
  if (message.type === 'job.revoke') await runner.onRevoke(message.job_id);
}

type Connection = Parameters<JobsService['onGone']>[0];

async function toService(server: ServerProcess, connection: Connection, message: AgentMessage): Promise<void> {
  await server.alive();
  if (message.type === 'job.accepted') await server.jobs.onJobAccepted(connection, message.job_id);
  if (message.type === 'job.declined') await server.jobs.onJobDeclined(connection, message);
  if (message.type === 'job.began') await server.jobs.onJobBegan(connection, message.job_id);
  if (message.type === 'job.ended') await server.jobs.onJobEnded(connection, message.job_id, message.result);
  if (message.type === 'job.refused') await server.jobs.onJobRefused(connection, message.job_id);
  if (message.type === 'job.guard') await server.jobs.onJobGuard(connection, message);
}
