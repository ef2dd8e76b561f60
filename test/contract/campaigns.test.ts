import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CampaignsService } from '../../server/work/campaigns/service.ts';
import type { CampaignView, NewCampaign } from '../../server/work/campaigns/types.ts';
import { AppError } from '../../server/platform/core/errors.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { JobsService } from '../../server/work/jobs/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { CampaignWorld } from '../harness/campaigns/campaign-world.ts';
import { DONE, FAILED, FakeFleet, UNKNOWN } from '../harness/campaigns/fake-fleet.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

describeEachDatabase('a campaign', (open) => {
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
  const under = ({ counts }: CampaignView) => counts.pending + counts.running;

  describe('that goes well', () => {
    it('runs once on every router', async () => {
      const { fleet } = await start({ routers: 12 });
      const id = await world!.create();
      const { campaign, counts, canaries } = await world!.ended(id);
      expect(campaign).toMatchObject({ state: 'finished', stop_reason: null, target_count: 12 });
      expect(counts).toEqual({
        waiting: 0,
        pending: 0,
        running: 0,
        completed: 12,
        failed: 0,
        expired: 0,
        unknown: 0,
        deleted: 0,
        skipped: 0,
      });
      expect(canaries).toBe('passed');
      expect([...fleet.runs].sort()).toEqual([...fleet.routerIds].sort());
    });

    it('begins the rest only when all canaries have completed', async () => {
      const { fleet } = await start({ routers: 8 });
      fleet.answer = () => 'hold';
      const id = await world!.create({ canaryCount: 2 });
      await waitUntil('the canaries run', () => fleet.held.length === 2);
      await fleet.end(DONE, 1);
      await world!.until('one canary is done', id, ({ counts }) => counts.completed === 1);
      world!.clock.advance(60_000);
      expect(await world!.view(id)).toMatchObject({ canaries: 'running', counts: { waiting: 6, running: 1, completed: 1 } });
      expect(new Set(fleet.runs)).toEqual(new Set(fleet.routerIds.slice(0, 2)));
      await fleet.end();
      await world!.until('the rest runs', id, ({ counts }) => counts.running === 6);
      expect(await world!.view(id)).toMatchObject({ canaries: 'passed' });
      await fleet.end();
      await world!.ended(id);
    });

    it('keeps to the most at once, those that wait for their router included', async () => {
      const { fleet } = await start({ routers: 9 });
      fleet.answer = () => 'hold';
      fleet.away.add(fleet.routerIds[0]!);
      const id = await world!.create({ canaryCount: 0, mostAtOnce: 3 });
      await world!.until('all places are taken', id, ({ counts }) => counts.running === 2 && counts.pending === 1);
      await fleet.end(DONE, 1);
      await world!.until('the next one runs', id, ({ counts }) => counts.completed === 1 && counts.running === 2);
      expect(under(await world!.view(id))).toBe(3);
      fleet.answer = () => DONE;
      await fleet.end();
      fleet.comeBack(fleet.routerIds[0]!);
      await world!.ended(id);
      expect(fleet.mostAtOnce).toBeLessThanOrEqual(3);
    });

    it('lets routers go first that answer', async () => {
      const { fleet } = await start({ routers: 6 });
      const seen = fleet.routerIds
        .slice(3)
        .map((id) => ({
          router_id: id,
          reachable: 1 as const,
          uptime_seconds: null,
          last_seen_at: world!.clock.now(),
          last_seen_from: null,
        }));
      await storage.db.insertInto('router_presence').values(seen).execute();
      await world!.ended(await world!.create({ canaryCount: 1, mostAtOnce: 1 }));
      const [first, ...rest] = fleet.routerIds;
      expect(fleet.runs).toEqual([first, ...rest.slice(2), ...rest.slice(0, 2)]);
    });

    it('keeps its rate across a restart', async () => {
      await start({ routers: 9 });
      const id = await world!.create({ canaryCount: 0, ratePerMinute: 6 });
      await world!.until('some have run', id, ({ counts }) => counts.completed === 3, 1000);
      for (let restart = 0; restart < 3; restart += 1) {
        await world!.stop();
        await world!.boot();
        await world!.campaigns.resumeCampaign(world!.fleet.teamId, id);
      }
      await world!.ended(id, 1000);
      const times = (await targets(id)).map(({ startedAt }) => startedAt!).sort((a, b) => a - b);
      for (const [index, at] of times.entries()) if (index > 0) expect(at - times[index - 1]!).toBeGreaterThanOrEqual(10_000);
    });

    it('does not wait for scripts that need no acknowledgement', async () => {
      const { fleet } = await start({ routers: 4 });
      fleet.answer = () => 'hold';
      const { counts } = await world!.ended(await world!.create({ needsAcknowledgement: false }));
      expect(counts).toMatchObject({ completed: 4 });
    });
  });

  const targets = (id: string, statuses: Parameters<CampaignsService['listTargets']>[2]['statuses'] = []) =>
    world!.campaigns.listTargets(world!.fleet.teamId, id, { statuses, after: -1, limit: 1000 });

  describe('that goes badly', () => {
    it.each([FAILED, UNKNOWN])('stops when a canary ends as $outcome', async (result) => {
      const { fleet } = await start({ routers: 5 });
      fleet.answer = () => result;
      const view = await world!.ended(await world!.create());
      expect(view).toMatchObject({
        campaign: { state: 'stopped', stop_reason: 'canary_failed', stop_message: '1 of 1 canaries did not complete' },
        canaries: 'failed',
        counts: { [result.outcome]: 1, skipped: 4, waiting: 0 },
      });
      expect(fleet.runs).toHaveLength(1);
    });

    it.each([FAILED, UNKNOWN])('stops at its limit of failures, here $outcome', async (result) => {
      const { fleet } = await start({ routers: 20 });
      fleet.answer = (routerId) => (fleet.routerIds.indexOf(routerId) % 2 === 1 ? result : DONE);
      const view = await world!.ended(await world!.create({ mostAtOnce: 1, abortAfterFailures: 3 }));
      expect(view).toMatchObject({
        campaign: { state: 'stopped', stop_reason: 'failures' },
        counts: { completed: 3, [result.outcome]: 3, skipped: 14 },
      });
      expect(fleet.runs).toHaveLength(6);
    });

    it('stops at its share of failures, from the fifth result on', async () => {
      const { fleet } = await start({ routers: 20 });
      fleet.answer = (routerId) => (fleet.routerIds.indexOf(routerId) === 1 ? FAILED : DONE);
      const view = await world!.ended(await world!.create({ mostAtOnce: 1, abortAtPercent: 20 }));
      expect(view).toMatchObject({
        campaign: { state: 'stopped', stop_reason: 'failure_percentage', stop_message: '1 of 5 results are failures; the limit was 20 %' },
        counts: { completed: 4, failed: 1, skipped: 15 },
      });
    });

    it('takes back what waits for its router when it stops, and leaves alone what runs', async () => {
      const { fleet } = await start({ routers: 6 });
      const [first, second, third] = fleet.routerIds as [string, string, string];
      fleet.away.add(first);
      fleet.answer = (routerId) => (routerId === second ? 'hold' : routerId === third ? FAILED : DONE);
      const id = await world!.create({ canaryCount: 0, mostAtOnce: 3, abortAfterFailures: 1 });
      const stopped = await world!.until('it stops', id, ({ campaign, counts }) => campaign.state === 'stopped' && counts.deleted === 1);
      expect(stopped).toMatchObject({ campaign: { finished_at: null }, counts: { running: 1, failed: 1, deleted: 1, skipped: 3 } });
      await fleet.end();
      expect((await world!.ended(id)).counts).toMatchObject({ completed: 1, failed: 1, deleted: 1, skipped: 3 });
      fleet.comeBack(first);
      expect([...fleet.runs].sort()).toEqual([second, third]);
    });

    it('continues when the job of an unreachable router has expired, which is a failure', async () => {
      const { fleet } = await start({ routers: 3 });
      fleet.away.add(fleet.routerIds[0]!);
      const id = await world!.create({ canaryCount: 0, mostAtOnce: 1, deliverWithinMinutes: 30 });
      const { campaign, counts } = await world!.ended(id, 60_000);
      expect(campaign.state).toBe('finished');
      expect(counts).toMatchObject({ completed: 2, expired: 1 });
      expect(campaign.finished_at! - campaign.created_at).toBeGreaterThan(29 * 60_000);
    });

    it('counts expired jobs for its limit', async () => {
      const { fleet } = await start({ routers: 4 });
      for (const routerId of fleet.routerIds) fleet.away.add(routerId);
      const id = await world!.create({ canaryCount: 0, mostAtOnce: 1, deliverWithinMinutes: 1, abortAfterFailures: 2 });
      expect(await world!.ended(id, 10_000)).toMatchObject({ campaign: { stop_reason: 'failures' }, counts: { expired: 2, skipped: 2 } });
    });

    it('believes a late result, also after its end', async () => {
      const { fleet } = await start({ routers: 2 });
      fleet.answer = () => 'hold';
      const id = await world!.create({ canaryCount: 0 });
      await waitUntil('both run', () => fleet.held.length === 2);
      const [one] = fleet.held as [(typeof fleet.held)[0]];
      await world!.jobs.onJobEnded(one.connection, one.jobId, UNKNOWN);
      await fleet.end(DONE, 0);
      await world!.until('one is unknown', id, ({ counts }) => counts.unknown === 1);
      fleet.held.splice(0, 1);
      await fleet.end();
      expect(await world!.ended(id)).toMatchObject({ campaign: { state: 'finished' }, counts: { unknown: 1, completed: 1 } });
      // Nobody looks when the truth comes: the next start does.
      await world!.campaigns.stop();
      await world!.jobs.onJobEnded(one.connection, one.jobId, { ...DONE, output: 'late' });
      await world!.jobs.stop();
      await world!.boot();
      await world!.until('the result is corrected', id, ({ counts }) => counts.completed === 2);
      const { groups } = await world!.campaigns.listGroups(fleet.teamId, id, 10);
      expect(new Set(groups.map(({ output }) => output))).toEqual(new Set(['late', 'ok']));
      expect(await world!.campaigns.listCampaigns(fleet.teamId, { limit: 10, before: undefined })).toEqual([await world!.view(id)]);
    });

    it('is not changed when the records of its jobs are removed', async () => {
      const { fleet } = await start({ routers: 3 });
      fleet.answer = (routerId) => (routerId === fleet.routerIds[2] ? 'hold' : DONE);
      const id = await world!.create();
      await world!.until('two are done', id, ({ counts }) => counts.completed === 2);
      const [job] = await world!.allJobs();
      await world!.jobs.cancelJob(fleet.teamId, job!.router_id, job!.id);
      await world!.until('the third runs', id, () => fleet.held.length === 1);
      await fleet.end();
      expect((await world!.ended(id)).counts).toMatchObject({ completed: 3, deleted: 0 });
    });
  });

  describe('with interventions', () => {
    it('creates no jobs during a pause, and continues after it', async () => {
      const { fleet, campaigns } = await start({ routers: 6 });
      fleet.answer = () => 'hold';
      const id = await world!.create({ canaryCount: 0, mostAtOnce: 2 });
      await waitUntil('two run', () => fleet.held.length === 2);
      expect((await campaigns.pauseCampaign(fleet.teamId, id)).campaign.state).toBe('paused');
      expect((await campaigns.pauseCampaign(fleet.teamId, id)).campaign.state).toBe('paused');
      await fleet.end();
      await world!.until('both are done', id, ({ counts }) => counts.completed === 2);
      world!.clock.advance(60_000);
      expect((await world!.view(id)).counts).toMatchObject({ waiting: 4, pending: 0, running: 0 });
      fleet.answer = () => DONE;
      await campaigns.resumeCampaign(fleet.teamId, id);
      expect((await world!.ended(id)).counts).toMatchObject({ completed: 6 });
      await expect(campaigns.pauseCampaign(fleet.teamId, id)).rejects.toMatchObject({ code: 'conflict' });
      await expect(campaigns.resumeCampaign(fleet.teamId, id)).rejects.toMatchObject({ code: 'conflict' });
      await expect(campaigns.cancelCampaign(fleet.teamId, id)).rejects.toMatchObject({ code: 'conflict' });
    });

    it('takes back what waits when it is canceled, leaves what runs, and says how many', async () => {
      const { fleet, campaigns } = await start({ routers: 8 });
      fleet.answer = () => 'hold';
      for (const routerId of fleet.routerIds.slice(0, 3)) fleet.away.add(routerId);
      const id = await world!.create({ canaryCount: 0, mostAtOnce: 5 });
      await world!.until('all places are taken', id, ({ counts }) => counts.running === 2 && counts.pending === 3);
      const canceled = await campaigns.cancelCampaign(fleet.teamId, id);
      expect(canceled).toMatchObject({
        campaign: { state: 'canceled', finished_at: null },
        counts: { deleted: 3, running: 2, pending: 0, skipped: 3 },
      });
      expect((await campaigns.cancelCampaign(fleet.teamId, id)).counts).toEqual(canceled.counts);
      await fleet.end();
      expect((await world!.ended(id)).counts).toMatchObject({ deleted: 3, completed: 2, skipped: 3 });
      expect(await targets(id, ['skipped'])).toHaveLength(3);
      expect(await targets(id, ['waiting'])).toHaveLength(0);
      expect(fleet.runs).toHaveLength(2);
    });
  });

  describe('whose control plane ends in the middle', () => {
    type Jobs = ConstructorParameters<typeof CampaignsService>[0]['jobs'];
    /** A control plane that dies at its nth job, before or after it is stored. */
    const dying =
      (at: number, when: 'before' | 'after') =>
      (jobs: JobsService): Jobs => {
        let count = 0;
        return {
          changes: jobs.changes,
          checkNotifyUrl: (url) => jobs.checkNotifyUrl(url),
          cancelIfOpen: (...args) => jobs.cancelIfOpen(...args),
          createJob: async (...args) => {
            count += 1;
            if (count >= at && when === 'before') throw new AppError('unavailable', 'killed');
            const job = await jobs.createJob(...args);
            if (count >= at) throw new AppError('unavailable', 'killed');
            return job;
          },
        };
      };

    it.each([
      [1, 'before'],
      [4, 'before'],
      [1, 'after'],
      [4, 'after'],
    ] as const)('skips no router and runs on none twice: killed at job %i, %s it is stored', async (at, when) => {
      const { fleet } = await start({ routers: 10, wrap: dying(at, when) });
      fleet.answer = () => 'hold';
      const id = await world!.create({ canaryCount: 0, mostAtOnce: 6 });
      await waitUntil(
        'the claimed routers wait for their jobs',
        async () => (await targets(id)).filter(({ startedAt }) => startedAt !== null).length === 6,
      );
      await world!.stop();
      // Longer than keys are remembered for callers.
      world!.clock.advance(30 * 3600_000);
      await world!.boot();
      fleet.answer = () => DONE;
      await fleet.end();
      expect((await world!.ended(id)).campaign.state).toBe('finished');
      const jobs = await world!.allJobs();
      expect(jobs.map((job) => job.router_id).sort()).toEqual([...fleet.routerIds].sort());
      expect(new Set(fleet.runs).size).toBe(fleet.runs.length);
      expect(new Set((await targets(id)).map(({ jobId }) => jobId))).toEqual(new Set(jobs.map((job) => job.id)));
    });

    it('makes no job for what was claimed when it is canceled before the restart', async () => {
      const { fleet } = await start({ routers: 4, wrap: dying(2, 'before') });
      fleet.answer = () => 'hold';
      const id = await world!.create({ canaryCount: 0 });
      await world!.until('one runs, the others are claimed', id, ({ counts }) => counts.running === 1 && counts.pending === 3);
      const { counts } = await world!.campaigns.cancelCampaign(fleet.teamId, id);
      expect(counts).toMatchObject({ running: 1, pending: 0, skipped: 3 });
      await fleet.end();
      await world!.ended(id);
      expect(await world!.allJobs()).toHaveLength(1);
    });

    it('makes jobs for what was claimed only after a pause', async () => {
      const { fleet } = await start({ routers: 4, wrap: dying(2, 'before') });
      const id = await world!.create({ canaryCount: 0 });
      await world!.until('one has run, the others are claimed', id, ({ counts }) => counts.completed === 1 && counts.pending === 3);
      await world!.campaigns.pauseCampaign(fleet.teamId, id);
      await world!.stop();
      await world!.boot();
      await world!.until('some minutes have passed', id, ({ campaign }) => world!.clock.now() > campaign.created_at + 300_000, 10_000);
      expect(await world!.allJobs()).toHaveLength(1);
      await world!.campaigns.resumeCampaign(fleet.teamId, id);
      expect((await world!.ended(id)).counts.completed).toBe(4);
    });

    it('two control planes on one database make each job once', async () => {
      const { fleet, jobs, clock } = await start({ routers: 60 });
      const second = new CampaignsService({ storage, jobs, clock, log: silentLog });
      second.start();
      const id = await world!.create({ canaryCount: 0, mostAtOnce: 7 });
      await waitUntil('all have run', async () => {
        clock.advance(10_000);
        const { campaign } = await second.getCampaign(fleet.teamId, id);
        return campaign.finished_at !== null;
      });
      await second.stop();
      expect((await world!.allJobs()).map((job) => job.router_id).sort()).toEqual([...fleet.routerIds].sort());
      expect(fleet.mostAtOnce).toBeLessThanOrEqual(7);
    });
  });

  describe('shows', () => {
    it('which routers said the same', async () => {
      const { fleet } = await start({ routers: 9 });
      const outputs = ['a\r\n', 'a\n', 'b'];
      fleet.answer = (routerId) => {
        const index = fleet.routerIds.indexOf(routerId);
        return index === 8 ? FAILED : { ...DONE, output: outputs[index % 3]! };
      };
      const id = await world!.create({ canaryCount: 0 });
      await world!.ended(id);
      const { groups, total } = await world!.campaigns.listGroups(fleet.teamId, id, 10);
      expect(total).toBe(3);
      const at = (...indices: number[]) => indices.map((index) => fleet.routerIds[index]);
      expect(groups).toMatchObject([
        { status: 'completed', count: 6, output: 'a\r\n', routerIds: at(0, 1, 3, 4, 6) },
        { status: 'completed', count: 2, output: 'b', routerIds: at(2, 5) },
        { status: 'failed', count: 1, output: null, error: 'no such item', reason: 'script_error', routerIds: at(8) },
      ]);
      expect(await world!.campaigns.listGroups(fleet.teamId, id, 1)).toMatchObject({ total: 3, groups: [{ count: 6 }] });
    });

    it('how far each is, in the list as in the record, while they run and after', async () => {
      const { fleet, campaigns } = await start({ routers: 7 });
      fleet.answer = (routerId) => (routerId === fleet.routerIds[2] ? FAILED : DONE);
      const stopped = await world!.create({ mostAtOnce: 1, abortAfterFailures: 1 });
      await world!.ended(stopped);
      fleet.answer = () => 'hold';
      const running = await world!.create({ canaryCount: 0, mostAtOnce: 3 });
      await world!.until('three run', running, ({ counts }) => counts.running === 3);
      const views = await campaigns.listCampaigns(fleet.teamId, { limit: 10, before: undefined });
      expect(views).toEqual([await world!.view(running), await world!.view(stopped)]);
      expect(views).toMatchObject([
        { canaries: 'none', counts: { waiting: 4, pending: 0, running: 3, completed: 0, skipped: 0 } },
        { canaries: 'passed', counts: { waiting: 0, pending: 0, running: 0, completed: 2, failed: 1, skipped: 4 } },
      ]);
    });

    it('its routers in the order asked for, page by page and by status', async () => {
      const { fleet, campaigns } = await start({ routers: 5 });
      fleet.answer = (routerId) => (routerId === fleet.routerIds[1] ? FAILED : DONE);
      const routerIds = [...fleet.routerIds].reverse();
      const id = await world!.create({ routerIds: [...routerIds, ...routerIds], canaryCount: 2 });
      await world!.ended(id);
      const all = await targets(id);
      expect(all.map(({ routerId }) => routerId)).toEqual(routerIds);
      expect(all.map(({ canary }) => canary)).toEqual([true, true, false, false, false]);
      expect(await campaigns.listTargets(fleet.teamId, id, { statuses: [], after: 1, limit: 2 })).toEqual(all.slice(2, 4));
      expect(await targets(id, ['failed', 'unknown'])).toMatchObject([
        { routerId: fleet.routerIds[1], status: 'failed', reason: 'script_error' },
      ]);
    });
  });

  describe('is refused', () => {
    const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';

    async function addSite(teamId: string): Promise<string> {
      const id = newId(1);
      await storage.db
        .insertInto('sites')
        .values({ id, team_id: teamId, name: id, time_zone: null, latitude: null, longitude: null, created_at: 1 })
        .execute();
      return id;
    }

    it('when it names no router, in whichever way', async () => {
      const { fleet } = await start({ routers: 2 });
      const other = await FakeFleet.create(storage, { routers: 1 });
      const empty = await addSite(fleet.teamId);
      const strange = await addSite(other.teamId);
      const refusals: [Partial<NewCampaign>, string][] = [
        [{ routerIds: undefined, siteIds: undefined }, 'router_ids'],
        [{ routerIds: [] }, 'router_ids'],
        [{ routerIds: [], siteIds: [empty] }, 'router_ids'],
        [{ routerIds: undefined, siteIds: [] }, 'site_ids'],
        [{ siteIds: [] }, 'site_ids'],
        [{ routerIds: undefined, siteIds: [empty] }, 'site_ids'],
        [{ routerIds: undefined, siteIds: [strange] }, 'site_ids'],
        [{ routerIds: undefined, siteIds: [UNKNOWN_ID] }, 'site_ids'],
        [{ routerIds: [...fleet.routerIds, UNKNOWN_ID] }, 'router_ids'],
        [{ routerIds: [...fleet.routerIds, ...other.routerIds] }, 'router_ids'],
        [{ canaryCount: 3 }, 'canary_count'],
        [{ notifyUrl: 'ftp://example.org' }, 'notify_url'],
      ];
      for (const [wanted, field] of refusals) {
        await expect(world!.create(wanted), JSON.stringify(wanted)).rejects.toMatchObject({
          code: 'invalid',
          errors: { [field]: [expect.any(String)] },
        });
      }
      expect(await world!.allJobs()).toEqual([]);
      expect(await storage.db.selectFrom('campaigns').select('id').execute()).toEqual([]);
    });

    it('alike for a router of another team and one that does not exist', async () => {
      await start({ routers: 1 });
      const [strange] = (await FakeFleet.create(storage, { routers: 1 })).routerIds as [string];
      const reason = async (id: string) =>
        world!.create({ routerIds: [id] }).catch((error: AppError) => error.errors!['router_ids']![0]!.replace(id, 'X'));
      expect(await reason(strange)).toBe(await reason(UNKNOWN_ID));
    });

    it('to another team', async () => {
      const { campaigns } = await start({ routers: 1 });
      const { teamId } = await FakeFleet.create(storage, { routers: 0 });
      const id = await world!.create();
      const asked = [
        () => campaigns.getCampaign(teamId, id),
        () => campaigns.listTargets(teamId, id, { statuses: [], after: -1, limit: 1 }),
        () => campaigns.listGroups(teamId, id, 1),
        () => campaigns.pauseCampaign(teamId, id),
        () => campaigns.resumeCampaign(teamId, id),
        () => campaigns.cancelCampaign(teamId, id),
      ];
      for (const ask of asked) await expect(ask()).rejects.toMatchObject({ code: 'not_found' });
      expect(await campaigns.listCampaigns(teamId, { limit: 10, before: undefined })).toEqual([]);
    });

    it('when too many of the team have not ended', async () => {
      const { campaigns, fleet } = await start({ routers: 1 });
      fleet.answer = () => 'hold';
      for (let count = 0; count < 100; count += 1) await world!.create();
      await expect(world!.create()).rejects.toMatchObject({ code: 'quota_exceeded' });
      expect(await campaigns.listCampaigns(fleet.teamId, { limit: 200, before: undefined })).toHaveLength(100);
    });

    it('not when routers are named by their sites, as they stand now', async () => {
      const { fleet } = await start({ routers: 6 });
      const [one, two] = [await addSite(fleet.teamId), await addSite(fleet.teamId)];
      const place = (routerIds: string[], site: string) =>
        storage.db.updateTable('routers').set({ site_id: site }).where('id', 'in', routerIds).execute();
      await place(fleet.routerIds.slice(1, 3), one);
      await place(fleet.routerIds.slice(3, 4), two);
      fleet.answer = () => 'hold';
      const id = await world!.create({ routerIds: [fleet.routerIds[2]!], siteIds: [one, two], mostAtOnce: 1 });
      await place(fleet.routerIds.slice(4), one);
      await waitUntil('the first one runs', () => fleet.held.length === 1);
      fleet.answer = () => DONE;
      await fleet.end();
      await world!.ended(id);
      expect(fleet.runs).toEqual([2, 1, 3].map((index) => fleet.routerIds[index]));
    });
  });

  it('is found again by the key of its caller', async () => {
    const { fleet } = await start({ routers: 3 });
    const id = await world!.create({}, 'mine');
    expect(await world!.create({}, 'mine')).toBe(id);
    expect(await world!.create({}, 'other')).not.toBe(id);
    await world!.ended(id);
    expect(await world!.campaigns.listCampaigns(fleet.teamId, { limit: 10, before: undefined })).toHaveLength(2);
  });

  it('cannot have two jobs for one router, even past the service', async () => {
    await start({ routers: 1 });
    await world!.ended(await world!.create());
    const [job] = await world!.allJobs();
    await expect(
      storage.db
        .insertInto('jobs')
        .values({ ...job!, id: newId(1) })
        .execute(),
    ).rejects.toThrow();
  });

  it('of 2,000 routers is through in reasonable time', { timeout: 120_000 }, async () => {
    const { fleet } = await start({ routers: 2000, agents: 20 });
    const id = await world!.create({ canaryCount: 5, mostAtOnce: 200 });
    const view = await waitUntil(
      'all have run',
      async () => {
        world!.clock.advance(50);
        const view = await world!.view(id);
        return view.campaign.finished_at === null ? undefined : view;
      },
      110_000,
    );
    expect(view.counts.completed).toBe(2000);
    expect(new Set(fleet.runs).size).toBe(2000);
    expect(fleet.runs).toHaveLength(2000);
    expect(fleet.mostAtOnce).toBeLessThanOrEqual(200);
  });
});
