import { randomUUID } from 'node:crypto';
import { CampaignsService } from '../../../server/work/campaigns/service.ts';
import type { CampaignsDeps } from '../../../server/work/campaigns/service.ts';
import type { CampaignView, NewCampaign } from '../../../server/work/campaigns/types.ts';
import type { Clock } from '../../../server/platform/core/clock.ts';
import { JobsService } from '../../../server/work/jobs/service.ts';
import { DEFAULT_JOB_RULES } from '../../../server/work/jobs/types.ts';
import type { JobRecord } from '../../../server/work/jobs/types.ts';
import { RoutersService } from '../../../server/fleet/routers/service.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import { ManualClock } from '../manual-clock.ts';
import { silentLog } from '../silent-log.ts';
import { waitUntil } from '../wait-until.ts';
import { FakeFleet } from './fake-fleet.ts';

export interface CampaignWorldOptions {
  routers: number;
  agents?: number;
  /** Between the campaigns and the jobs. */
  wrap?: (jobs: JobsService) => CampaignsDeps['jobs'];
}

/** Campaigns and jobs of the control plane with a simulated fleet. Time stands still until a test moves it. */
export class CampaignWorld {
  readonly storage: Storage;
  readonly clock: ManualClock;
  readonly fleet: FakeFleet;
  jobs!: JobsService;
  campaigns!: CampaignsService;

  private constructor(storage: Storage, clock: ManualClock, fleet: FakeFleet) {
    this.storage = storage;
    this.clock = clock;
    this.fleet = fleet;
  }

  static async start(storage: Storage, options: CampaignWorldOptions): Promise<CampaignWorld> {
    const world = new CampaignWorld(storage, new ManualClock(), await FakeFleet.create(storage, options));
    await world.boot(options.wrap);
    return world;
  }

  /** Starts the control plane, again after a {@link stop}. */
  async boot(wrap: CampaignWorldOptions['wrap'] = (jobs) => jobs): Promise<void> {
    this.jobs = jobsService(this.storage, this.clock, this.fleet);
    this.jobs.start();
    this.campaigns = new CampaignsService({ storage: this.storage, jobs: wrap(this.jobs), clock: this.clock, log: silentLog });
    this.campaigns.start();
    await this.fleet.connect(this.jobs);
  }

  async stop(): Promise<void> {
    await this.fleet.disconnect();
    await this.campaigns.stop();
    await this.jobs.stop();
  }

  async create(wanted: Partial<NewCampaign> = {}, key?: string): Promise<string> {
    const request = { requestId: 'r', idempotencyKey: key ?? randomUUID(), keyGiven: key !== undefined, createdBy: 'me' };
    return (await this.campaigns.createCampaign(this.fleet.teamId, newCampaign({ routerIds: this.fleet.routerIds, ...wanted }), request))
      .campaign.id;
  }

  view(id: string): Promise<CampaignView> {
    return this.campaigns.getCampaign(this.fleet.teamId, id);
  }

  /** Advances time in steps of `stepMs` until the campaign reaches the wanted state. */
  async until(what: string, id: string, is: (view: CampaignView) => boolean, stepMs = 100): Promise<CampaignView> {
    return waitUntil(what, async () => {
      const view = await this.view(id);
      if (is(view)) return view;
      this.clock.advance(stepMs);
      return undefined;
    });
  }

  ended(id: string, stepMs = 100): Promise<CampaignView> {
    return this.until('the campaign ends', id, ({ campaign }) => campaign.finished_at !== null, stepMs);
  }

  allJobs(): Promise<JobRecord[]> {
    return this.storage.db.selectFrom('jobs').selectAll().where('team_id', '=', this.fleet.teamId).orderBy('id').execute();
  }
}

export function jobsService(storage: Storage, clock: Clock, fleet: Pick<FakeFleet, 'notify'>): JobsService {
  return new JobsService({
    storage,
    gateway: { notify: (agentId, message) => fleet.notify(agentId, message) },
    routers: new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 90_000 } }),
    clock,
    log: silentLog,
    rules: DEFAULT_JOB_RULES,
    notifyUrls: { allowLoopback: false },
    random: () => 1,
  });
}

export function newCampaign(wanted: Partial<NewCampaign>): NewCampaign {
  return {
    routerIds: undefined,
    siteIds: undefined,
    description: 'd',
    script: ':put ok',
    makeBackup: false,
    expressExecute: true,
    needsAcknowledgement: true,
    notifyUrl: undefined,
    timeoutSeconds: undefined,
    deliverWithinMinutes: 60,
    canaryCount: 1,
    ratePerMinute: undefined,
    mostAtOnce: 10,
    abortAfterFailures: undefined,
    abortAtPercent: undefined,
    ...wanted,
  };
}
