import { afterEach, expect, it } from 'vitest';
import type { JobResult } from '../../protocol/index.ts';
import { CampaignsService } from '../../server/work/campaigns/service.ts';
import type { CampaignsDeps } from '../../server/work/campaigns/service.ts';
import type { CampaignRecord, TargetView } from '../../server/work/campaigns/types.ts';
import { AppError } from '../../server/platform/core/errors.ts';
import type { JobsService } from '../../server/work/jobs/service.ts';
import { CampaignWorld } from '../harness/campaigns/campaign-world.ts';
import { DONE, FAILED, UNKNOWN } from '../harness/campaigns/fake-fleet.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { Chance, turns } from '../harness/jobs/random.ts';
import { silentLog } from '../harness/silent-log.ts';

/** A campaign to which everything happens that can, in an order that a number decides. */

const ROUTERS = 24;
const MOST_AT_ONCE = 5;
const STEPS = 60;

/** Jobs that dawdle, or are lost on their way: before they are stored, or the word that they were. */
const losing =
  (chance: Chance) =>
  (jobs: JobsService): CampaignsDeps['jobs'] => ({
    changes: jobs.changes,
    checkNotifyUrl: (url) => jobs.checkNotifyUrl(url),
    cancelIfOpen: (...args) => jobs.cancelIfOpen(...args),
    createJob: async (...args) => {
      if (chance.happens(0.3)) await turns(chance.int(0, 200));
      if (chance.happens(0.1)) throw new AppError('unavailable', 'the database is away');
      const job = await jobs.createJob(...args);
      if (chance.happens(0.1)) throw new AppError('unavailable', 'the connection broke');
      return job;
    },
  });

class Disturbance {
  readonly #world: CampaignWorld;
  readonly #chance: Chance;
  readonly #id: string;
  /** Control planes beside the one of the world. */
  readonly #others: CampaignsService[] = [];
  readonly #oneWriter: boolean;

  /** @param oneWriter transactions come one after another, so that what is answered is true at once */
  constructor(world: CampaignWorld, chance: Chance, { id, oneWriter }: { id: string; oneWriter: boolean }) {
    this.#oneWriter = oneWriter;
    this.#world = world;
    this.#chance = chance;
    this.#id = id;
  }

  async step(): Promise<void> {
    const { fleet, clock } = this.#world;
    const routerId = this.#chance.pick(fleet.routerIds);
    const deeds: (() => unknown)[] = [
      () => clock.advance(this.#chance.int(0, 20_000)),
      () => clock.advance(100),
      () => fleet.end(this.#result(), this.#chance.int(1, 3)),
      () => fleet.end(this.#result(), this.#chance.int(1, 3)),
      () => this.#correct(),
      () => fleet.away.add(routerId),
      () => fleet.comeBack(routerId),
      () => this.#ask('pauseCampaign'),
      () => this.#ask('resumeCampaign'),
      () => this.#ask('resumeCampaign'),
      () => this.#another(),
      () => this.#restart(),
    ];
    if (this.#chance.happens(0.02)) deeds.splice(0, deeds.length, () => this.#ask('cancelCampaign'));
    await this.#chance.pick(deeds)();
    await turns(this.#chance.int(0, 20));
  }

  async calm(): Promise<void> {
    const { fleet } = this.#world;
    for (const other of this.#others.splice(0)) await other.stop();
    fleet.answer = () => DONE;
    for (const routerId of fleet.routerIds) fleet.comeBack(routerId);
    await fleet.end();
    await this.#ask('resumeCampaign');
    while (await this.#correct());
  }

  /** The truth about a job that was called unknown. */
  async #correct(): Promise<boolean> {
    const { fleet, jobs } = this.#world;
    const job = (await this.#world.allJobs()).find(({ phase }) => phase === 'unknown');
    if (job) await jobs.onJobEnded(fleet.connectionOf(job.agent_id!), job.id, DONE);
    return job !== undefined;
  }

  #result(): JobResult {
    return this.#chance.pick([DONE, DONE, DONE, DONE, FAILED, UNKNOWN]);
  }

  async #ask(turn: 'pauseCampaign' | 'resumeCampaign' | 'cancelCampaign'): Promise<void> {
    const service = this.#chance.pick([this.#world.campaigns, ...this.#others]);
    try {
      await service[turn](this.#world.fleet.teamId, this.#id);
    } catch (error) {
      // It has ended.
      expect(error).toMatchObject({ code: 'conflict' });
      return;
    }
    if (turn === 'resumeCampaign' || !this.#oneWriter) return;
    const made = (await this.#world.allJobs()).length;
    await turns(100);
    expect(await this.#world.allJobs(), turn).toHaveLength(made);
  }

  async #another(): Promise<void> {
    const { storage, jobs, clock } = this.#world;
    if (this.#others.length > 0) return this.#others.pop()!.stop();
    const other = new CampaignsService({ storage, jobs: losing(this.#chance)(jobs), clock, log: silentLog });
    other.start();
    this.#others.push(other);
  }

  async #restart(): Promise<void> {
    for (const other of this.#others.splice(0)) await other.stop();
    await this.#world.stop();
    await this.#world.boot(losing(this.#chance));
  }
}

describeEachDatabase('a campaign in chaos', (open, kind) => {
  let world: CampaignWorld | undefined;
  afterEach(async () => {
    await world?.stop();
    world = undefined;
  });

  const NEVER_RAN = new Set(['deleted', 'expired', 'skipped', 'waiting', 'pending']);

  /** The campaign, its jobs and the routers tell the same. */
  async function expectOneStory(campaign: CampaignRecord, targets: readonly TargetView[], counts: Record<string, number>): Promise<void> {
    const { fleet } = world!;
    const jobs = new Map((await world!.allJobs()).map((job) => [job.id, job]));
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(campaign.target_count);
    expect(targets.filter(({ jobId }) => jobId !== null)).toHaveLength(jobs.size);
    expect(new Set(fleet.runs).size).toBe(fleet.runs.length);
    expect(fleet.mostAtOnce).toBeLessThanOrEqual(MOST_AT_ONCE);
    const ran = new Set(fleet.runs);
    for (const { routerId, status, jobId } of targets) {
      if (NEVER_RAN.has(status)) expect(ran.has(routerId), status).toBe(false);
      if (status === 'completed') expect(ran.has(routerId)).toBe(true);
      if (jobId !== null)
        expect(jobs.get(jobId)).toMatchObject({ router_id: routerId, completed_at: status === 'completed' ? expect.any(Number) : null });
      expect(status === 'skipped').toBe(jobId === null);
    }
    // Those that were skipped were left out for a reason.
    if (counts['skipped'] === 0) return;
    expect(campaign.state).not.toBe('finished');
  }

  const SEEDS = Array.from({ length: kind.name === 'SQLite' ? 25 : 6 }, (_, index) => index + 1);

  it.each(SEEDS)('runs once on every router or says why not: %i', async (seed) => {
    const chance = new Chance(seed);
    world = await CampaignWorld.start(await open(), { routers: ROUTERS, agents: 2, wrap: losing(chance) });
    const { fleet } = world;
    fleet.answer = () => (chance.happens(0.5) ? 'hold' : DONE);
    const abortAfterFailures = chance.happens(0.5) ? chance.int(1, 6) : undefined;
    const id = await world.create({
      canaryCount: chance.int(0, 3),
      mostAtOnce: MOST_AT_ONCE,
      abortAfterFailures,
      deliverWithinMinutes: 1440,
      timeoutSeconds: 7200,
    });
    const disturbance = new Disturbance(world, chance, { id, oneWriter: kind.name === 'SQLite' });
    for (let step = 0; step < STEPS; step += 1) await disturbance.step();
    await disturbance.calm();
    const { campaign } = await world.ended(id, 5000);
    const { counts } = await world.until('late results are counted', id, ({ counts }) => counts.unknown === 0);
    const targets = await world.campaigns.listTargets(fleet.teamId, id, { statuses: [], after: -1, limit: 1000 });
    await expectOneStory(campaign, targets, counts);
    const [listed] = await world.campaigns.listCampaigns(fleet.teamId, { limit: 1, before: undefined });
    expect(listed).toEqual(await world.view(id));
    expect(listed!.counts).toEqual(counts);
  });
});
