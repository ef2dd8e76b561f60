import { beforeEach, describe, expect, test } from 'vitest';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import { CampaignsService } from '../../server/work/campaigns/service.ts';
import { Counters } from '../../server/platform/core/counters.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { QUOTAS } from '../../server/platform/core/quotas.ts';
import type { QuotaName } from '../../server/platform/core/quotas.ts';
import { ClientsService } from '../../server/access/identity/clients/service.ts';
import { JobsService } from '../../server/work/jobs/service.ts';
import { DEFAULT_JOB_RULES } from '../../server/work/jobs/types.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import type { TableName } from '../../server/platform/storage/tables.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import { SitesService } from '../../server/fleet/sites/service.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

/** A team, and how it makes one more of something. */
interface Case {
  name: QuotaName;
  /** Makes one more, as a caller does. */
  make: (world: World, team: SeededRouter) => Promise<unknown>;
  /** Stores so many, past the service: making them one by one takes minutes. */
  fill: (world: World, team: SeededRouter, count: number) => Promise<void>;
  /** One fewer. */
  free: (world: World, team: SeededRouter) => Promise<unknown>;
}

class World {
  readonly clock = new ManualClock();
  readonly counters = new Counters();
  readonly storage: Storage;
  readonly auth: CredentialsService;
  readonly teams: TeamsService;
  readonly sites: SitesService;
  readonly clients: ClientsService;
  /** Exchanged for one that has not counted yet when jobs were stored past it. */
  jobs: JobsService;
  readonly campaigns: CampaignsService;

  constructor(storage: Storage) {
    this.storage = storage;
    const deps = { storage, clock: this.clock, log: silentLog, counters: this.counters };
    this.auth = new CredentialsService(deps);
    this.teams = new TeamsService(deps);
    this.sites = new SitesService(deps);
    this.clients = new ClientsService(deps);
    this.jobs = this.newJobs();
    this.campaigns = new CampaignsService({ ...deps, jobs: this.jobs });
  }

  newJobs(): JobsService {
    const deps = { storage: this.storage, clock: this.clock, log: silentLog, counters: this.counters };
    const routers = new RoutersService({ ...deps, rules: { offlineAfterMs: 75_000 } });
    return new JobsService({
      ...deps,
      routers,
      gateway: { notify: () => false },
      rules: DEFAULT_JOB_RULES,
      notifyUrls: { allowLoopback: false },
    });
  }

  async insert(table: TableName, rows: readonly object[]): Promise<void> {
    for (let i = 0; i < rows.length; i += 500)
      await this.storage.db
        .insertInto(table)
        .values(rows.slice(i, i + 500))
        .execute();
  }
}

const many = <Row>(count: number, row: (id: string) => Row): Row[] => Array.from({ length: count }, () => row(newId(1000)));
const asked = (key: string) => ({ requestId: 'r', idempotencyKey: key, keyGiven: true });
const job = {
  description: 'd',
  script: 's',
  expressExecute: false,
  needsAcknowledgement: false,
  makeBackup: false,
  notifyUrl: undefined,
  timeoutSeconds: undefined,
  undoSeconds: undefined,
  deliverWithinMinutes: 60,
};
const campaign = {
  ...job,
  siteIds: undefined,
  canaryCount: 0,
  mostAtOnce: 1,
  ratePerMinute: undefined,
  abortAfterFailures: undefined,
  abortAtPercent: undefined,
};

const storeKeys = (world: World, teamId: string, count: number): Promise<void> =>
  world.insert(
    'api_keys',
    many(count, (id) => ({ id, team_id: teamId, name: 'k', secret_hash: id, role: 'viewer', created_at: 1000 })),
  );

/** The older key goes on working. */
async function rotateOne(world: World, teamId: string): Promise<void> {
  const fresh = () =>
    world.storage.db
      .selectFrom('api_keys')
      .select('id')
      .where('team_id', '=', teamId)
      .where('replaced_by', 'is', null)
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
  if (!(await fresh())) await storeKeys(world, teamId, 1);
  await world.auth.rotateApiKey(teamId, (await fresh())!.id, { createdBy: null, overlapMs: 3_600_000 });
}

const cases: Case[] = [
  {
    name: 'api_keys_per_team',
    make: ({ auth }, { teamId }) => auth.createApiKey({ teamId, name: 'one more', role: 'viewer', createdBy: null }),
    fill: (world, { teamId }, count) => storeKeys(world, teamId, count),
    free: ({ storage }, { teamId }) => storage.db.updateTable('api_keys').set({ revoked_at: 1 }).where('team_id', '=', teamId).execute(),
  },
  {
    name: 'rotated_api_keys_per_team',
    make: (world, { teamId }) => rotateOne(world, teamId),
    fill: (world, { teamId }, count) => storeKeys(world, teamId, count),
    free: ({ storage }, { teamId }) => storage.db.updateTable('api_keys').set({ revoked_at: 1 }).where('team_id', '=', teamId).execute(),
  },
  {
    name: 'clients_per_team',
    make: ({ clients }, { teamId }) =>
      clients.create({
        teamId,
        name: 'one more',
        kind: 'native',
        role: 'viewer',
        redirectUris: ['http://127.0.0.1/back'],
        createdBy: null,
      }),
    fill: async (world, team, count) => {
      for (let i = 0; i < count; i += 1) await cases.find(({ name }) => name === 'clients_per_team')!.make(world, team);
    },
    free: ({ storage }, { teamId }) => storage.db.deleteFrom('clients').where('team_id', '=', teamId).execute(),
  },
  {
    name: 'sites_per_team',
    make: ({ sites }, { teamId }) => sites.create({ teamId, name: `site ${newId(1000)}` }),
    fill: (world, { teamId }, count) =>
      world.insert(
        'sites',
        many(count, (id) => ({ id, team_id: teamId, name: id, created_at: 1000 })),
      ),
    // One: to delete ten thousand took longer than a statement may on a busy machine.
    free: ({ storage: { db } }, { teamId }) =>
      db
        .deleteFrom('sites')
        .where('id', '=', db.selectFrom('sites').select('id').where('team_id', '=', teamId).limit(1))
        .execute(),
  },
  {
    name: 'members_per_team',
    make: ({ teams }, { teamId }) =>
      teams.createUser({ teamId, email: `${newId(1000)}@example.org`, role: 'viewer', password: 'a password of some length' }),
    fill: async (world, { teamId }, count) => {
      const ids = many(count, (id) => id);
      await world.insert(
        'users',
        ids.map((id) => ({ id, email: `${id}@example.net`, password_hash: null, created_at: 1000 })),
      );
      await world.insert(
        'members',
        ids.map((id) => ({ team_id: teamId, user_id: id, role: 'viewer', active: 1, created_at: 1000 })),
      );
    },
    free: ({ storage }, { teamId }) => storage.db.deleteFrom('members').where('team_id', '=', teamId).execute(),
  },
  {
    name: 'enrol_tokens_per_team',
    make: ({ auth }, { teamId }) => auth.createEnrolToken({ teamId, siteId: null }),
    fill: (world, { teamId }, count) => {
      const now = world.clock.now();
      return world.insert(
        'enrol_tokens',
        many(count, (id) => ({ id, team_id: teamId, secret_hash: id, created_at: now, expires_at: now + 3_600_000 })),
      );
    },
    free: ({ storage }, { teamId }) =>
      storage.db.updateTable('enrol_tokens').set({ revoked_at: 1 }).where('team_id', '=', teamId).execute(),
  },
  {
    name: 'agents_per_team',
    make: async ({ auth, storage, clock }, { teamId }) => {
      const { token } = await auth.createEnrolToken({ teamId, siteId: null });
      try {
        return await auth.enrolAgent(token, 'one more');
      } finally {
        await storage.db.updateTable('enrol_tokens').set({ revoked_at: clock.now() }).where('team_id', '=', teamId).execute();
      }
    },
    fill: (world, { teamId }, count) =>
      world.insert(
        'agents',
        many(count, (id) => ({ id, team_id: teamId, name: id, secret_hash: id, created_at: 1000, epoch: 0, confirmed_epoch: 0 })),
      ),
    free: ({ storage }, { teamId }) => storage.db.updateTable('agents').set({ revoked_at: 1 }).where('team_id', '=', teamId).execute(),
  },
  {
    name: 'campaigns_per_team',
    make: ({ campaigns }, { teamId, routerId }) =>
      campaigns.createCampaign(teamId, { ...campaign, routerIds: [routerId] }, { ...asked(newId(1000)), createdBy: 'k' }),
    fill: async (world, team, count) => {
      await cases.find(({ name }) => name === 'campaigns_per_team')!.make(world, team);
      const { id: _, ...row } = await world.storage.db
        .selectFrom('campaigns')
        .selectAll()
        .where('team_id', '=', team.teamId)
        .executeTakeFirstOrThrow();
      await world.insert(
        'campaigns',
        many(count - 1, (id) => ({ ...row, id })),
      );
    },
    free: ({ storage }, { teamId }) => storage.db.updateTable('campaigns').set({ finished_at: 1 }).where('team_id', '=', teamId).execute(),
  },
  {
    name: 'open_jobs_per_team',
    make: ({ jobs }, { teamId, routerId }) => jobs.createJob(teamId, routerId, job, asked(newId(1000))),
    fill: async (world, team, count) => {
      await world.jobs.createJob(team.teamId, team.routerId, job, asked('first'));
      const { id: _, ...row } = await world.storage.db
        .selectFrom('jobs')
        .selectAll()
        .where('team_id', '=', team.teamId)
        .executeTakeFirstOrThrow();
      await world.insert(
        'jobs',
        many(count - 1, (id) => ({ ...row, id })),
      );
      world.jobs = world.newJobs();
    },
    free: async ({ storage, clock }, { teamId }) => {
      await storage.db.updateTable('jobs').set({ phase: 'expired' }).where('team_id', '=', teamId).execute();
      clock.advance(1000);
    },
  },
];

test('every quota has an attack in this file', () => {
  expect(cases.map(({ name }) => name).toSorted()).toEqual(Object.keys(QUOTAS).toSorted());
});

describeEachDatabase('a team that makes more than it may', (open) => {
  let world: World;
  let team: SeededRouter;
  let neighbour: SeededRouter;

  beforeEach(async () => {
    world = new World(await open());
    team = await seedRouter(world.storage);
    neighbour = await seedRouter(world.storage);
  });

  describe.each(cases)('$name', ({ name, make, fill, free }) => {
    test('reports the limit and the remedy, spares another team, and accepts again when there is room', async () => {
      const { most, what, instead } = QUOTAS[name];
      // The agent of the router counts as one.
      await fill(world, team, name === 'agents_per_team' ? most - 2 : most - 1);
      await make(world, team);
      const message = `the team has ${most} ${what}, which is the limit: ${instead}`;
      await expect(make(world, team)).rejects.toMatchObject({ code: 'quota_exceeded', message });
      expect(world.counters.get(name)).toBe(1);
      await make(world, neighbour);
      await free(world, team);
      await make(world, team);
      expect(world.counters.get(name)).toBe(1);
    });
  });

  test('a repeat of an earlier job is answered although the quota is full', async () => {
    const wanted = cases.find(({ name }) => name === 'open_jobs_per_team')!;
    await wanted.fill(world, team, QUOTAS.open_jobs_per_team.most);
    const fresh = new World(world.storage);
    await expect(wanted.make(fresh, team)).rejects.toMatchObject({ code: 'quota_exceeded' });
    expect(await fresh.jobs.createJob(team.teamId, team.routerId, job, asked('first'))).toMatchObject({ idempotency_key: 'first' });
  });
});
