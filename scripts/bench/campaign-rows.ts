import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import nodePath from 'node:path';
import PQueue from 'p-queue';
import { CampaignsService } from '../../server/work/campaigns/service.ts';
import { systemClock } from '../../server/platform/core/clock.ts';
import type { JobsService } from '../../server/work/jobs/service.ts';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { jobsService, newCampaign } from '../../test/harness/campaigns/campaign-world.ts';
import { FakeFleet } from '../../test/harness/campaigns/fake-fleet.ts';
import { silentLog } from '../../test/harness/silent-log.ts';
import type { Row } from './report.ts';
import { interleave, median } from './statistics.ts';

const ROUTERS = 2000;
const AGENTS = 20;
const AT_ONCE = 200;
/** Limit for the cost of selecting and claiming targets and storing results, beside the jobs themselves. */
const LEAST_RATIO = 0.5;

interface Bench {
  fleet: FakeFleet;
  jobs: JobsService;
  campaigns: CampaignsService;
}

/**
 * One campaign on 2,000 routers against 2,000 jobs made one by one, with as many under way. All of the control plane but
 * HTTP and tunnel is real, on a database file; the routers are only simulated answers.
 */
export async function campaignRows({ rounds }: { rounds: number }): Promise<Row[]> {
  const samples = await interleave(rounds, [() => withFleet(runJobs), () => withFleet(runCampaign)]);
  const [jobs, campaign] = samples.map((seconds) => ROUTERS / median(seconds)) as [number, number];
  return [
    {
      name: `jobs a second, a campaign on ${ROUTERS} routers to single jobs`,
      ratio: campaign / jobs,
      bar: { at: 'least', value: LEAST_RATIO },
      detail: `campaign ${Math.round(campaign)}, single jobs ${Math.round(jobs)}; ${AT_ONCE} at once, ${(ROUTERS / campaign).toFixed(1)} s in all`,
    },
  ];
}

/** @returns seconds */
async function withFleet(measure: (bench: Bench) => Promise<void>): Promise<number> {
  const folder = await mkdtemp(nodePath.join(os.tmpdir(), 'signalbox-bench-'));
  const storage = await openStorage(`sqlite:${nodePath.join(folder, 'bench.db')}`, { log: silentLog });
  try {
    await migrate(storage);
    const fleet = await FakeFleet.create(storage, { routers: ROUTERS, agents: AGENTS });
    const jobs = jobsService(storage, systemClock, fleet);
    const campaigns = new CampaignsService({ storage, jobs, clock: systemClock, log: silentLog });
    jobs.start();
    campaigns.start();
    await fleet.connect(jobs);
    const began = performance.now();
    await measure({ fleet, jobs, campaigns });
    const seconds = (performance.now() - began) / 1000;
    await fleet.disconnect();
    await campaigns.stop();
    await jobs.stop();
    if (fleet.runs.length !== ROUTERS) throw new Error(`${fleet.runs.length} scripts ran instead of ${ROUTERS}`);
    return seconds;
  } finally {
    await storage.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function runJobs({ fleet, jobs }: Bench): Promise<void> {
  const queue = new PQueue({ concurrency: AT_ONCE });
  const ends = new Map<string, () => void>();
  const unsubscribe = jobs.changes.subscribe((job) => {
    if (job.phase === 'done') ends.get(job.router_id)?.();
  });
  const wanted = newCampaign({});
  await queue.addAll(
    fleet.routerIds.map((routerId) => async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(routerId, resolve);
      await jobs.createJob(fleet.teamId, routerId, wanted, { requestId: 'bench', idempotencyKey: randomUUID(), keyGiven: false });
      await promise;
    }),
  );
  unsubscribe();
}

async function runCampaign({ fleet, campaigns }: Bench): Promise<void> {
  const request = { requestId: 'bench', idempotencyKey: randomUUID(), keyGiven: false, createdBy: 'bench' };
  const wanted = newCampaign({ routerIds: fleet.routerIds, canaryCount: 5, mostAtOnce: AT_ONCE });
  const { campaign } = await campaigns.createCampaign(fleet.teamId, wanted, request);
  while ((await campaigns.getCampaign(fleet.teamId, campaign.id)).campaign.finished_at === null) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
