import type { Storage } from '../../../server/platform/storage/db.ts';
import type { JobRecord } from '../../../server/work/jobs/types.ts';
import { JobWorld } from './job-world.ts';
import type { AgentSite, Guards } from './job-world.ts';
import { Chance, turns } from './random.ts';
import type { Run } from './scripted-router.ts';

export interface ChaosOptions {
  seed: number;
  jobs: number;
  guards?: Guards;
  /** How often agents are killed, against the other things that happen. */
  agentKills?: number;
  /** Share of jobs with an undo guard; four in ten of them lock everybody out. Default: none. */
  guarded?: number;
}

export interface ChaosReport {
  acknowledged: number;
  /** How often each kind of fault happened. */
  faults: Record<string, number>;
  lost: number;
  twice: number;
  false: number;
  /** How many jobs ended in each phase or outcome. */
  outcomes: Record<string, number>;
  violations: string[];
}

/** Agents and how many routers each has. */
const SHAPE = [2, 1];

/** Creates jobs while everything breaks, heals the world, and compares what the control plane says with what really ran. */
export async function runChaos(storage: Storage, options: ChaosOptions): Promise<ChaosReport> {
  const chance = new Chance(options.seed);
  const world = await JobWorld.create(storage, chance, SHAPE, options.guards);
  const breaker = new Breaker(world, chance, options.agentKills ?? 2.5);
  const acknowledged: string[] = [];
  while (acknowledged.length < options.jobs) {
    if (chance.happens(0.25)) createJob(world, chance, { acknowledged, guarded: options.guarded ?? 0 });
    await breaker.step();
    await world.breathe();
  }
  await breaker.heal();
  const jobs = await settle(world, breaker);
  for (let round = 0; round < 100; round += 1) await pass(world, breaker);
  const runs = world.routers.flatMap(({ router }) => router.runs);
  await world.server.jobs.stop();
  return { acknowledged: acknowledged.length, faults: breaker.faults, ...withLeftovers(world, check(acknowledged, jobs, runs)) };
}

/** What the control plane answers is acknowledged; when it dies first, nothing was promised. */
function createJob(world: JobWorld, chance: Chance, { acknowledged, guarded }: { acknowledged: string[]; guarded: number }): void {
  const isGuarded = chance.happens(guarded);
  const end = isGuarded && chance.happens(0.4) ? 'lock' : chance.happens(0.8) ? 'ok' : 'fail';
  const created = world.createJob(chance.pick(world.routers).id, {
    script: `run ${chance.int(0, 3000)} ${end}`,
    undoSeconds: isGuarded ? chance.int(30, 90) : undefined,
    expressExecute: chance.happens(0.7),
    needsAcknowledgement: chance.happens(0.85),
    makeBackup: chance.happens(0.1),
    timeoutSeconds: chance.happens(0.1) ? 1 : undefined,
    deliverWithinMinutes: chance.happens(0.1) ? 1 : undefined,
  });
  void created.then((job) => acknowledged.push(job.id));
}

/** One thing after the other goes wrong. */
class Breaker {
  readonly faults: Record<string, number> = {};
  readonly #world: JobWorld;
  readonly #chance: Chance;
  readonly #images = new Map<AgentSite, Buffer | undefined>();
  readonly #actions: [number, () => void | Promise<void>][];

  constructor(world: JobWorld, chance: Chance, agentKills: number) {
    this.#world = world;
    this.#chance = chance;
    const agent = (): AgentSite => chance.pick(world.agents);
    const router = () => chance.pick(world.routers).router;
    this.#actions = [
      [30, () => world.clock.advance(chance.int(1, 700))],
      [8, () => world.beat()],
      [12, () => this.#bringBack(agent())],
      [1, () => world.clock.advance(chance.int(10_000, 60_000))],
      [0.3, () => world.clock.advance(700_000)],
      [1.5, () => this.#cancelOne()],
      [1.5, () => this.#fault('server killed', () => world.killServer())],
      [agentKills, () => this.#fault('agent killed', () => world.killAgent(agent()))],
      [2, () => this.#fault('tunnel cut', () => agent().tunnel?.close())],
      // A second connection while the first is up.
      [1, () => this.#fault('second connection', () => this.#connect(agent()))],
      [1.2, () => this.#fault('router sessions broken', () => router().breakSessions())],
      [0.8, () => this.#fault('router rebooted', () => router().reboot())],
      [1, () => this.#fault('router away or back', () => toggle(router(), 'reachable'))],
      [0.5, () => this.#fault('agent disk full or not', () => toggle(agent().disk, 'full'))],
      [1, () => this.#image(agent())],
      [0.25, () => this.#fault('agent disk restored', () => this.#restore(agent()))],
      [0.15, () => this.#fault('agent disk wiped', () => this.#wipe(agent()))],
    ];
  }

  async step(): Promise<void> {
    await turns(this.#chance.int(0, 4));
    let at = this.#chance.next() * this.#actions.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, action] of this.#actions) {
      at -= weight;
      if (at >= 0) continue;
      await action();
      return;
    }
  }

  async heal(): Promise<void> {
    for (const { router } of this.#world.routers) router.reachable = true;
    for (const site of this.#world.agents) {
      site.disk.full = false;
      await this.bringBackFor(site);
    }
  }

  /** Starts what is down and connects what is not. */
  async bringBackFor(site: AgentSite): Promise<void> {
    if (!site.process) await this.#world.startAgent(site);
    if (!this.#world.server.tunnels.has(site.id)) await Promise.race([this.#world.connect(site).catch(() => undefined), this.#patience()]);
  }

  /** Longer than a connection takes that comes about at all. */
  async #patience(): Promise<void> {
    for (let breath = 0; breath < 50; breath += 1) {
      await turns(4);
      await this.#world.breathe();
    }
  }

  #bringBack(site: AgentSite): void {
    if (!site.process) void this.#world.startAgent(site).catch(() => (site.process = undefined));
    else if (!this.#world.server.tunnels.has(site.id)) this.#connect(site);
  }

  /** Comes to nothing on a full disk, say. */
  #connect(site: AgentSite): void {
    this.#world.connect(site).catch(() => site.tunnel?.close());
  }

  #fault(kind: string, cause: () => void): void {
    this.faults[kind] = (this.faults[kind] ?? 0) + 1;
    cause();
  }

  #image(site: AgentSite): void {
    this.#images.set(site, site.disk.content && Buffer.from(site.disk.content));
  }

  #restore(site: AgentSite): void {
    this.#world.killAgent(site);
    if (this.#images.has(site)) site.disk.content = this.#images.get(site);
  }

  #wipe(site: AgentSite): void {
    this.#world.killAgent(site);
    site.disk.content = undefined;
  }

  async #cancelOne(): Promise<void> {
    const open = (await this.#world.jobs()).filter((job) => job.phase === 'queued' || job.phase === 'accepted');
    if (open.length === 0) return;
    const job = this.#chance.pick(open);
    void this.#world.server.jobs.cancelJob(job.team_id, job.router_id, job.id).catch(() => undefined);
  }
}

function toggle<K extends string>(target: Record<K, boolean>, key: K): void {
  target[key] = !target[key];
}

/** Lets time pass in a healthy world until every job has an end; the slowest waits for its overdue time. */
async function settle(world: JobWorld, breaker: Breaker): Promise<JobRecord[]> {
  for (let round = 0; round < 2000; round += 1) {
    await pass(world, breaker);
    if (round % 5 === 0) world.beat();
    const jobs = await world.jobs();
    if (jobs.every((job) => !['queued', 'accepted', 'running'].includes(job.phase))) {
      // Late results may still correct an unknown.
      if (round > 20) return jobs;
    }
  }
  return world.jobs();
}

/** Two seconds of a healthy world. */
async function pass(world: JobWorld, breaker: Breaker): Promise<void> {
  for (const site of world.agents) await breaker.bringBackFor(site);
  world.clock.advance(2000);
  for (let breath = 0; breath < 3; breath += 1) {
    await turns(4);
    await world.breathe();
  }
}

function check(
  acknowledged: string[],
  jobs: JobRecord[],
  runs: Run[],
): Pick<ChaosReport, 'outcomes' | 'violations' | 'lost' | 'twice' | 'false'> {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const runsOf = Map.groupBy(runs, (run) => run.jobId);
  const outcomes: Record<string, number> = {};
  const violations: string[] = [];
  const count = { lost: 0, twice: 0, false: 0 };
  for (const id of acknowledged) {
    const job = byId.get(id);
    const own = runsOf.get(id) ?? [];
    const violation = job ? contradiction(job, own) : 'lost';
    if (violation !== undefined) {
      violations.push(`${id}: ${violation}`);
      count[!job ? 'lost' : own.length > 1 ? 'twice' : 'false'] += 1;
    }
    const outcome = !job ? 'lost' : job.phase !== 'done' ? job.phase : job.failed_at === null ? 'completed' : `failed ${job.reason}`;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  return { outcomes, violations, ...count };
}

/** A guard that is still armed, or that left a router locked. */
function withLeftovers<T extends { violations: string[] }>(world: JobWorld, report: T): T {
  for (const { name, router } of world.routers) {
    if (router.scheduler.entries.size > 0) report.violations.push(`${name}: ${[...router.scheduler.entries.keys()].join()} is still armed`);
    if (router.locked) report.violations.push(`${name}: locked for ever`);
    const files = [...router.files.keys()].filter((file) => file.includes('undo'));
    if (files.length > 0) report.violations.push(`${name}: ${files.join()} is left`);
  }
  return report;
}

/** What the control plane says against what the router did; undefined when they agree. */
function contradiction(job: JobRecord, runs: Run[]): string | undefined {
  if (runs.length > 1) return `ran ${runs.length} times`;
  const ran = runs[0]?.undone === true ? 'undone' : (runs[0]?.outcome ?? 'never');
  const told =
    job.phase === 'done' ? `done ${job.failed_at === null && job.reason === null ? 'completed' : `failed ${job.reason}`}` : job.phase;
  const truths: Record<string, readonly string[]> = {
    'done completed': ['done'],
    'done failed script_error': ['error'],
    'done failed rejected': ['never'],
    'done failed backup_failed': ['never'],
    'done failed timed_out': ['cut', 'never'],
    // Begun, never run and undone all the same: the configuration is the one from before it.
    'done failed rolled_back': ['undone', 'never'],
    expired: ['never'],
    canceled: ['never'],
    unknown: ['done', 'error', 'cut', 'never', 'undone'],
  };
  return truths[told]?.includes(ran) === true ? undefined : `is ${told}, but the router says ${ran}`;
}
