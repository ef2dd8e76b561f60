import { Chance } from '../jobs/random.ts';
import { waitUntil } from '../wait-until.ts';
import { Breaker, OPTIONAL_FAULTS, PAUSE_MS } from './breaker.ts';
import type { OptionalFault } from './breaker.ts';
import { ChaosWorld } from './chaos-world.ts';
import type { ChaosDatabase } from './chaos-world.ts';
import { JobLoad } from './job-load.ts';
import { judgeJobs } from './judge.ts';
import type { ShownJob, Verdict } from './judge.ts';

export interface ChaosRun extends Verdict {
  faults: Record<string, number>;
  repeatedMessages: number;
  /** Programs that exited unasked. */
  unaskedEnds: string[];
  statuses: Record<string, number>;
}

export interface ProcessChaosOptions {
  seed: number;
  jobs: number;
  limitMs: number;
  /** Undefined: SQLite on a disk of its own. */
  database: ChaosDatabase | undefined;
  /** All of them by default. */
  faults?: readonly OptionalFault[];
  serverProgram?: string;
  /** Several control planes on PostgreSQL; one by default. */
  nodes?: number;
  /** Between two faults. */
  pauseMs?: { least: number; most: number };
}

/** In a healthy world every job has its end within this time on a quiet machine, milliseconds: the longest waits for its guard. */
const SETTLE_MS = 180_000;
const OPEN = ['queued', 'accepted', 'running'];

/**
 * Real processes under faults: jobs are submitted while everything breaks, the world is mended, and what the control
 * plane says is compared with what the routers really ran. The seed chooses the faults; which instruction each one
 * hits is up to the machine.
 */
export async function runProcessChaos(options: ProcessChaosOptions): Promise<ChaosRun> {
  const { seed, faults = OPTIONAL_FAULTS, pauseMs = PAUSE_MS, ...others } = options;
  const world = await ChaosWorld.start({ chance: new Chance(seed), ...others });
  try {
    const breaker = new Breaker(world, new Chance(seed + 1), faults, pauseMs);
    const load = new JobLoad(world, new Chance(seed + 2));
    const settleMs = SETTLE_MS * world.slowness;
    const mended = new AbortController();
    const breaking = breaker.run(mended.signal);
    await load.run(options.jobs, AbortSignal.timeout(options.limitMs)).finally(() => mended.abort());
    await breaking;
    const jobs = await waitUntil('every job has its end', () => finished(world, breaker), settleMs).catch(() => allJobs(world));
    await waitUntil('the routers are clean', async () => (await world.fleet.record()).leftovers.length === 0, settleMs).catch(
      () => undefined,
    );
    return {
      ...judgeJobs(load.acknowledged, jobs, await world.fleet.record()),
      faults: breaker.faults,
      repeatedMessages: world.agents.reduce((sum, { line }) => sum + line.repeated, 0),
      unaskedEnds: world.unaskedEnds,
      statuses: Object.fromEntries(load.statuses),
    };
  } finally {
    await world.close();
  }
}

/** All jobs, once none is under way. */
async function finished(world: ChaosWorld, breaker: Breaker): Promise<ShownJob[] | undefined> {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  breaker.startWhatFell();
  const jobs = await allJobs(world).catch(() => undefined);
  return jobs?.every(({ phase }) => !OPEN.includes(phase)) === true ? jobs : undefined;
}

async function allJobs(world: ChaosWorld): Promise<ShownJob[]> {
  const jobs: ShownJob[] = [];
  for (const routerId of world.routerIds) {
    let route: string | undefined = `/api/routers/${routerId}/jobs?limit=100`;
    while (route !== undefined) {
      const { body, link } = await world.call('GET', route);
      jobs.push(...(body as { data: ShownJob[] }).data);
      const next = /<([^>]+)>; rel="next"/.exec(link ?? '')?.[1];
      route = next?.replace(/^https?:\/\/[^/]+/, '');
    }
  }
  return jobs;
}
