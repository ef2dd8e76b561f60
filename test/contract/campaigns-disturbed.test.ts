import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobResult } from '../../protocol/index.ts';
import { CampaignsService } from '../../server/work/campaigns/service.ts';
import type { CampaignsDeps } from '../../server/work/campaigns/service.ts';
import type { CampaignView } from '../../server/work/campaigns/types.ts';
import { notFound } from '../../server/platform/core/errors.ts';
import type { JobsService } from '../../server/work/jobs/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { CampaignWorld } from '../harness/campaigns/campaign-world.ts';
import { DONE, FAILED, UNKNOWN } from '../harness/campaigns/fake-fleet.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

const ROLLED_BACK: JobResult = {
  outcome: 'failed',
  reason: 'rolled_back',
  error: 'the router undid it',
  output: null,
  output_truncated: false,
};

type Jobs = CampaignsDeps['jobs'];

/** Between campaigns and jobs: what is asked for waits here until it is let through. */
class Gate {
  readonly #waiting: (() => void)[] = [];
  #isOpen = false;

  get waiting(): number {
    return this.#waiting.length;
  }

  open(): void {
    this.#isOpen = true;
    for (const pass of this.#waiting.splice(0)) pass();
  }

  readonly wrap = (jobs: JobsService): Jobs => ({
    ...passing(jobs),
    createJob: async (...args) => {
      if (!this.#isOpen) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      return jobs.createJob(...args);
    },
  });
}

const passing = (jobs: JobsService): Jobs => ({
  changes: jobs.changes,
  checkNotifyUrl: (url) => jobs.checkNotifyUrl(url),
  cancelIfOpen: (...args) => jobs.cancelIfOpen(...args),
  createJob: (...args) => jobs.createJob(...args),
});

describeEachDatabase('a campaign that is disturbed', (open) => {
  let storage: Storage;
  let world: CampaignWorld | undefined;

  beforeEach(async () => {
    storage = await open();
  });
  afterEach(async () => {
    await world?.stop();
    world = undefined;
  });

  const start = async (options: Parameters<typeof CampaignWorld.start>[1]) => (world = await CampaignWorld.start(storage, options));
  const sum = ({ counts }: CampaignView) => Object.values(counts).reduce((total, count) => total + count, 0);
  const targets = (id: string) => world!.campaigns.listTargets(world!.fleet.teamId, id, { statuses: [], after: -1, limit: 1000 });

  /** What happened on the routers, in the jobs and in the campaign is one story. */
  async function expectOneStory(id: string): Promise<void> {
    const view = await world!.view(id);
    const jobs = await world!.allJobs();
    expect(sum(view)).toBe(view.campaign.target_count);
    expect(new Set(world!.fleet.runs).size).toBe(world!.fleet.runs.length);
    const withJobs = (await targets(id)).filter(({ jobId }) => jobId !== null);
    expect(new Set(withJobs.map(({ jobId }) => jobId))).toEqual(new Set(jobs.map((job) => job.id)));
    const ran = withJobs.filter(({ status }) => !['deleted', 'expired'].includes(status)).map(({ routerId }) => routerId);
    expect(new Set(ran)).toEqual(new Set(world!.fleet.runs));
  }

  describe('by a pause', () => {
    it('makes no job after it, not even those that were just being made', async () => {
      const gate = new Gate();
      const { fleet, campaigns } = await start({ routers: 9, wrap: gate.wrap });
      const id = await world!.create({ canaryCount: 0, mostAtOnce: 3 });
      await waitUntil('three jobs are being made', () => gate.waiting === 3);
      expect(sum(await campaigns.pauseCampaign(fleet.teamId, id))).toBe(9);
      gate.open();
      await world!.until('some minutes have passed', id, ({ campaign }) => world!.clock.now() > campaign.created_at + 300_000, 10_000);
      expect(await world!.allJobs()).toEqual([]);
      await campaigns.resumeCampaign(fleet.teamId, id);
      expect((await world!.ended(id)).counts.completed).toBe(9);
      await expectOneStory(id);
    });

    it('and by many more, in random order', async () => {
      const { fleet, campaigns } = await start({ routers: 40 });
      const id = await world!.create({ mostAtOnce: 4 });
      const turns = Array.from({ length: 30 }, (_, index) => (index % 3 === 0 ? ('pauseCampaign' as const) : ('resumeCampaign' as const)));
      await Promise.allSettled(turns.map((turn) => campaigns[turn](fleet.teamId, id)));
      await campaigns.resumeCampaign(fleet.teamId, id).catch(() => undefined);
      expect((await world!.ended(id)).counts.completed).toBe(40);
      expect(fleet.mostAtOnce).toBeLessThanOrEqual(4);
      await expectOneStory(id);
    });
  });

  describe('by its canaries', () => {
    it('takes back those that wait and leaves those that run, when one fails', async () => {
      const { fleet } = await start({ routers: 8 });
      const [away, runs, fails] = fleet.routerIds as [string, string, string];
      fleet.away.add(away);
      fleet.answer = (routerId) => (routerId === fails ? FAILED : 'hold');
      const id = await world!.create({ canaryCount: 3 });
      const stopped = await world!.until('it stops', id, ({ campaign, counts }) => campaign.state === 'stopped' && counts.deleted === 1);
      expect(stopped).toMatchObject({
        campaign: { stop_reason: 'canary_failed', finished_at: null },
        canaries: 'failed',
        counts: { failed: 1, deleted: 1, running: 1, skipped: 5 },
      });
      await fleet.end();
      expect((await world!.ended(id)).counts).toMatchObject({ failed: 1, deleted: 1, completed: 1, skipped: 5 });
      expect(new Set(fleet.runs)).toEqual(new Set([runs, fails]));
      await expectOneStory(id);
    });

    it('stops when the job of a canary is canceled: its result is unknown', async () => {
      const { fleet, jobs } = await start({ routers: 3 });
      fleet.away.add(fleet.routerIds[0]!);
      const id = await world!.create();
      await world!.until('the canary waits', id, ({ counts }) => counts.pending === 1);
      const job = await waitUntil('its job is made', async () => (await world!.allJobs())[0]);
      await jobs.cancelJob(fleet.teamId, job.router_id, job.id);
      expect(await world!.ended(id)).toMatchObject({ campaign: { stop_reason: 'canary_failed' }, counts: { deleted: 1, skipped: 2 } });
    });

    it('stops before anything else is touched when a canary expires', async () => {
      const { fleet } = await start({ routers: 3 });
      fleet.away.add(fleet.routerIds[0]!);
      const id = await world!.create({ deliverWithinMinutes: 10 });
      expect(await world!.ended(id, 30_000)).toMatchObject({
        campaign: { stop_reason: 'canary_failed' },
        canaries: 'failed',
        counts: { expired: 1, skipped: 2 },
      });
      expect(fleet.runs).toEqual([]);
    });
  });

  describe('by bad results', () => {
    it('counts every kind of result, and a canceled job as none', async () => {
      const { fleet, jobs } = await start({ routers: 9 });
      const [completes, fails, isUnknown, rollsBack, expires, isTakenBack] = fleet.routerIds as [
        string,
        string,
        string,
        string,
        string,
        string,
      ];
      const answers = new Map([
        [completes, DONE],
        [fails, FAILED],
        [isUnknown, UNKNOWN],
        [rollsBack, ROLLED_BACK],
      ]);
      fleet.answer = (routerId) => answers.get(routerId) ?? 'hold';
      fleet.away.add(expires).add(isTakenBack);
      const id = await world!.create({
        canaryCount: 0,
        mostAtOnce: 6,
        deliverWithinMinutes: 30,
        timeoutSeconds: 7200,
        abortAfterFailures: 4,
        undoSeconds: 120,
      });
      await world!.until('four have a result', id, ({ counts }) => counts.completed + counts.failed + counts.unknown === 4);
      const waiting = (await world!.allJobs()).find((job) => job.router_id === isTakenBack);
      await jobs.cancelJob(fleet.teamId, isTakenBack, waiting!.id);
      await world!.until('it is counted', id, ({ counts }) => counts.deleted === 1);
      expect((await world!.view(id)).campaign.state).toBe('running');
      const stopped = await world!.until('the fourth failure stops it', id, ({ campaign }) => campaign.state !== 'running', 60_000);
      expect(stopped).toMatchObject({
        campaign: { stop_reason: 'failures', stop_message: '4 routers failed; the limit was 4' },
        counts: { completed: 1, failed: 2, unknown: 1, expired: 1, deleted: 1 },
      });
      await fleet.end();
      await world!.ended(id);
      const { groups } = await world!.campaigns.listGroups(fleet.teamId, id, 10);
      expect(groups).toContainEqual(expect.objectContaining({ status: 'failed', reason: 'rolled_back', routerIds: [rollsBack] }));
      expect((await world!.allJobs()).every((job) => job.undo_seconds === 120)).toBe(true);
    });

    it.each([
      ['goes on with four failures of four', 4, 0, 'running'],
      ['stops with one of five', 1, 4, 'stopped'],
    ] as const)('%s when the limit is a fifth', async (_name, failures, successes, state) => {
      const { fleet } = await start({ routers: 12 });
      fleet.answer = (routerId) => {
        const index = fleet.routerIds.indexOf(routerId);
        if (index >= failures + successes) return 'hold';
        return index < failures ? ROLLED_BACK : DONE;
      };
      const id = await world!.create({ canaryCount: 0, mostAtOnce: 1, abortAtPercent: 20 });
      await world!.until('those have their results', id, ({ counts }) => counts.failed === failures && counts.completed === successes);
      const next = await world!.until(
        'it has gone on or not',
        id,
        ({ campaign, counts }) => campaign.state === 'stopped' || counts.running === 1,
      );
      expect(next.campaign.state).toBe(state);
      await fleet.end();
    });
  });

  describe('by its routers', () => {
    it('finds one that hangs on another agent by then', async () => {
      const { fleet } = await start({ routers: 4, agents: 2 });
      const moving = fleet.routerIds[0]!;
      fleet.away.add(moving);
      const id = await world!.create({ canaryCount: 0 });
      await world!.until('the others are done', id, ({ counts }) => counts.completed === 3);
      const agents = await storage.db.selectFrom('agents').select('id').where('team_id', '=', fleet.teamId).orderBy('id').execute();
      await storage.db
        .updateTable('routers')
        .set({ agent_id: agents[1]!.id })
        .where('id', '=', moving)
        .where('agent_id', '=', agents[0]!.id)
        .execute();
      fleet.comeBack(moving);
      expect((await world!.ended(id)).counts.completed).toBe(4);
      await expectOneStory(id);
    });

    it('keeps those that leave its site: the routers were fixed at the beginning', async () => {
      const { fleet } = await start({ routers: 3 });
      await storage.db
        .insertInto('sites')
        .values({ id: 'site', team_id: fleet.teamId, name: 'site', time_zone: null, latitude: null, longitude: null, created_at: 1 })
        .execute();
      await storage.db.updateTable('routers').set({ site_id: 'site' }).execute();
      fleet.answer = () => 'hold';
      const id = await world!.create({ routerIds: undefined, siteIds: ['site'] });
      await waitUntil('the canary runs', () => fleet.held.length === 1);
      await storage.db.updateTable('routers').set({ site_id: null }).execute();
      fleet.answer = () => DONE;
      await fleet.end();
      expect((await world!.ended(id)).counts.completed).toBe(3);
    });

    it('counts a removed one as a failure, and continues', async () => {
      let gone = '';
      const wrap = (jobs: JobsService): Jobs => ({
        ...passing(jobs),
        createJob: (teamId, routerId, ...rest) => {
          if (routerId === gone) return Promise.reject(notFound('router'));
          return jobs.createJob(teamId, routerId, ...rest);
        },
      });
      const { fleet } = await start({ routers: 5, wrap });
      gone = fleet.routerIds[2]!;
      const id = await world!.create();
      expect((await world!.ended(id)).counts).toMatchObject({ completed: 4, failed: 1 });
      expect((await targets(id))[2]).toMatchObject({ routerId: gone, status: 'failed', reason: 'not_found', jobId: null });
    });
  });

  describe('by another control plane on the same database', () => {
    it.each(['pauseCampaign', 'cancelCampaign'] as const)(
      '%s there while jobs are being made here holds for those, too',
      async (interfere) => {
        const gate = new Gate();
        const { fleet, jobs, clock } = await start({ routers: 12, wrap: gate.wrap });
        const other = new CampaignsService({ storage, jobs: passing(jobs), clock, log: silentLog });
        const id = await world!.create({ canaryCount: 0, mostAtOnce: 5 });
        await waitUntil('five jobs are being made', () => gate.waiting === 5);
        await other[interfere](fleet.teamId, id);
        gate.open();
        await world!.until('some minutes have passed', id, ({ campaign }) => clock.now() > campaign.created_at + 300_000, 10_000);
        expect(await world!.allJobs()).toEqual([]);
        if (interfere === 'pauseCampaign') await other.resumeCampaign(fleet.teamId, id);
        const { counts } = await world!.ended(id);
        expect(counts).toMatchObject(interfere === 'pauseCampaign' ? { completed: 12 } : { completed: 0, skipped: 12 });
        await other.stop();
        await expectOneStory(id);
      },
    );

    it('runs its rounds in turn: never too many at once, never too fast, no router twice', async () => {
      const { fleet, jobs, clock } = await start({ routers: 50 });
      const others = [1, 2].map(() => new CampaignsService({ storage, jobs, clock, log: silentLog }));
      for (const other of others) other.start();
      const id = await world!.create({ canaryCount: 2, mostAtOnce: 6, ratePerMinute: 600 });
      await world!.ended(id, 250);
      for (const other of others) await other.stop();
      expect(fleet.mostAtOnce).toBeLessThanOrEqual(6);
      const begun = (await targets(id)).map(({ startedAt }) => startedAt!).sort((a, b) => a - b);
      for (const at of begun) expect(begun.filter((other) => other >= at && other < at + 60_000).length).toBeLessThanOrEqual(600);
      await expectOneStory(id);
    });
  });

  describe('by the end of its control plane', () => {
    it('stays paused over it, and canceled', async () => {
      const { fleet } = await start({ routers: 6 });
      fleet.answer = () => 'hold';
      const paused = await world!.create({ canaryCount: 0, mostAtOnce: 2 });
      await waitUntil('two run', () => fleet.held.length === 2);
      await world!.campaigns.pauseCampaign(fleet.teamId, paused);
      await world!.stop();
      await world!.boot();
      await fleet.end();
      await world!.until('both are counted', paused, ({ counts }) => counts.completed === 2);
      world!.clock.advance(600_000);
      expect(await world!.view(paused)).toMatchObject({ campaign: { state: 'paused' }, counts: { waiting: 4, pending: 0, running: 0 } });
      await world!.campaigns.cancelCampaign(fleet.teamId, paused);
      await world!.stop();
      await world!.boot();
      expect(await world!.view(paused)).toMatchObject({
        campaign: { state: 'canceled', finished_at: expect.any(Number) },
        counts: { completed: 2, skipped: 4 },
      });
    });

    it('counts jobs that ended while no process ran, and stops for them', async () => {
      const { fleet, campaigns, jobs } = await start({ routers: 8 });
      fleet.answer = () => 'hold';
      const id = await world!.create({ canaryCount: 0, mostAtOnce: 3, abortAfterFailures: 3 });
      await waitUntil('three run', () => fleet.held.length === 3);
      await campaigns.stop();
      await fleet.end(FAILED);
      await fleet.disconnect();
      await jobs.stop();
      await world!.boot();
      expect(await world!.ended(id)).toMatchObject({
        campaign: { state: 'stopped', stop_reason: 'failures' },
        counts: { failed: 3, skipped: 5 },
      });
      expect(fleet.runs).toHaveLength(3);
    });
  });

  it('tells each change of its state once, in order', async () => {
    const { fleet, campaigns } = await start({ routers: 4 });
    const told: string[] = [];
    fleet.answer = () => 'hold';
    campaigns.changes.subscribe(({ kind, campaign }) => told.push(`${kind} ${campaign.state} ${campaign.stop_reason ?? ''}`.trim()));
    const id = await world!.create({ canaryCount: 0 }, 'once');
    await world!.create({ canaryCount: 0 }, 'once');
    await campaigns.pauseCampaign(fleet.teamId, id);
    await campaigns.pauseCampaign(fleet.teamId, id);
    await campaigns.resumeCampaign(fleet.teamId, id);
    await waitUntil('all run', () => fleet.held.length === 4);
    await fleet.end();
    await world!.ended(id);
    fleet.answer = () => FAILED;
    await world!.ended(await world!.create());
    fleet.answer = () => 'hold';
    const canceled = await world!.create();
    await campaigns.cancelCampaign(fleet.teamId, canceled);
    await campaigns.cancelCampaign(fleet.teamId, canceled);
    await fleet.end();
    await world!.ended(canceled);
    expect(told).toEqual([
      'started running',
      'paused paused',
      'resumed running',
      'completed finished',
      'started running',
      'aborted stopped canary_failed',
      'started running',
      'canceled canceled',
    ]);
  });
});
