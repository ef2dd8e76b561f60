import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import * as agents from '../../server/fleet/agents/store.ts';
import * as devices from '../../server/fleet/devices/store.ts';
import { selectUnchanged, selectUnseen } from '../../server/fleet/devices/whole-report/store.ts';
import { storeNewcomers } from '../../server/fleet/routers/moves/newcomers/store.ts';
import * as moves from '../../server/fleet/routers/moves/store.ts';
import * as routers from '../../server/fleet/routers/store.ts';
import type { Tx, Storage } from '../../server/platform/storage/db.ts';
import * as backups from '../../server/work/backups/store.ts';
import * as forwards from '../../server/work/forwards/store.ts';
import * as dispatch from '../../server/work/jobs/dispatch/store.ts';
import * as handOver from '../../server/work/jobs/hand-over/store.ts';
import * as intake from '../../server/work/jobs/intake/store.ts';
import * as outbox from '../../server/work/jobs/outbox/store.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedLargeFleet } from '../harness/large-fleet.ts';
import type { LargeFleet } from '../harness/large-fleet.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';

const NOW = 1_700_000_000_000;
const FACTS = {
  hardware_id: 'HW1',
  serial_number: 'HW1',
  software_id: null,
  identity: 'gw',
  software_version: '7.18.2',
  model: null,
  board_name: 'board',
  hardware_board: true,
  architecture: null,
  time_zone: null,
  uptime: '1d',
  uptime_seconds: 86_400,
};

interface Hot {
  run: (tx: Tx, fleet: LargeFleet) => Promise<unknown>;
  /** What each read of a large table goes by. Names of agents, routers and records by default: never a team or a phase alone. */
  by?: RegExp;
}

const ONE_RECORD = /\b(?:id|agent_id|router_id|job_id|device_id|secret_hash|hardware_id)\b|hardware|<expr>/;
/** Values of the statement itself, in SQLite's words `said`, `wanted`, `claim` (the open claims, up to a limit), `100 CONSTANT ROWS` and `50-ROW`; and teams, of which there are few. */
const SMALL = /^(?:said|wanted|claim|\d+(?:-ROW)?|teams|\(subquery.*|)$/;
/** SQLite plans a look at these when a router is inserted, and skips it as long as no foreign key is violated. */
const SKIPPED = 'campaign_targets';

/** Agents that connect at the same time share statements. */
const some = ({ agents: all }: LargeFleet): string[] => all.slice(0, 100);
const reporterOf = ({ teamId, agents: [agentId = ''] }: LargeFleet) => ({ teamId, agentId, epoch: 1 });
const reportOf = (fleet: LargeFleet) => ({ reporter: reporterOf(fleet), jobId: fleet.jobs[0]! });
const sightingOf = ({ teamId, agents: [agentId = ''] }: LargeFleet) => ({
  newId: 'new',
  teamId,
  agentId,
  agentEntry: 'router 0',
  address: '203.0.113.7',
  facts: FACTS,
  now: NOW,
});

/** What an agent's tunnel costs from its dial to its end: these run for each of ten thousand agents after a restart. */
const OPENING: Record<string, Hot> = {
  'the check of credentials': { run: (tx, fleet) => agents.selectAgentCredentials(tx, some(fleet)) },
  'epochs are raised': {
    run: (tx, fleet) =>
      agents.raiseEpochs(
        tx,
        some(fleet).map((agentId) => ({ agentId, credential: 'x', version: '1', lastEpoch: 1 })),
      ),
  },
  'epochs are confirmed': {
    run: (tx, fleet) =>
      agents.confirmEpochs(
        tx,
        some(fleet).map((agentId) => ({ agentId, epoch: 2, journalId: 'x', now: NOW })),
      ),
  },
  'their routers are read': { run: (tx, fleet) => routers.selectRoutersOfAgents(tx, some(fleet)) },
  // Claims that wait are few: PostgreSQL may read them all.
  'their claims on routers': { run: (tx, fleet) => moves.selectClaimers(tx, some(fleet)), by: /agent_id|router_moves_open/ },
  'jobs that they held before': {
    run: (tx, fleet) =>
      handOver.selectHeldBefore(
        tx,
        some(fleet).map((agentId) => ({ teamId: fleet.teamId, agentId, epoch: 1 })),
      ),
  },
  'queued jobs of the routers of one agent': { run: (tx, fleet) => dispatch.selectWaitingRouters(tx, some(fleet).slice(0, 1), NOW) },
  'queued jobs of the routers of many agents': { run: (tx, fleet) => dispatch.selectWaitingRouters(tx, some(fleet), NOW) },
  'forwards that ended while they were away': {
    run: (tx, fleet) => forwards.selectEndedEarly(tx, some(fleet), NOW, 1000),
    by: /agent_id|router_id.*expires_at/,
  },
  'backups that wait for them': { run: (tx, fleet) => backups.selectWaitingOf(tx, some(fleet), NOW), by: /agent_id|backups_waiting/ },
  'the owner of a router that one reports': { run: (tx, { teamId }) => moves.selectClaimed(tx, teamId, 'HW1') },
  'claims that a report withdraws': {
    run: (tx, { teamId, agents: [agentId = ''] }) => moves.withdrawClaims(tx, { teamId, agentId, agentEntry: 'router 0', except: '' }),
  },
  'a router that is reported': { run: (tx, fleet) => routers.upsertRouter(tx, sightingOf(fleet)) },
  // Claims that wait are few: PostgreSQL may read them all.
  'new routers of many agents': {
    run: (tx, fleet) =>
      storeNewcomers(
        tx,
        some(fleet).map((agentId) => ({
          ...sightingOf(fleet),
          newId: `new ${agentId}`,
          agentId,
          agentEntry: 'new',
          facts: { ...FACTS, hardware_id: `NEW ${agentId}` },
        })),
      ),
    by: new RegExp(`${ONE_RECORD.source}|router_moves_open`),
  },
  'what their routers see, compared with what is stored': {
    run: (tx, { teamId, routers: all }) =>
      selectUnchanged(
        tx,
        teamId,
        all.slice(0, 50).map((routerId) => ({ teamId, routerId, sighted: [] })),
        5000,
      ),
  },
  'those that have reported nothing yet': {
    run: (tx, { teamId, routers: all }) => selectUnseen(tx, teamId, all.slice(0, 50)),
    by: new RegExp(`${ONE_RECORD.source}|place`),
  },
  'ends of tunnels': {
    run: (tx, fleet) =>
      agents.recordDisconnects(
        tx,
        some(fleet).map((agentId) => ({ agentId, epoch: 1, now: NOW })),
      ),
  },
};

/** What each job, each report and each forward costs. */
const WORK: Record<string, Hot> = {
  'routers of jobs that come together': {
    run: (tx, { routers: all }) => intake.holdRouters(tx, 'sqlite', all.slice(0, 100), { wait: false }),
  },
  'earlier jobs of the keys of callers': {
    run: (tx, { teamId, routers: all }) =>
      intake.selectJobsByKeys(
        tx,
        all.slice(0, 100).map((routerId) => ({ teamId, routerId, idempotencyKey: 'key', since: 1 })),
      ),
  },
  'the next jobs of routers': {
    run: (tx, { routers: all, agents: [agentId = ''] }) =>
      dispatch.selectNextJobs(
        tx,
        all.slice(0, 64).map((routerId, index) => ({ routerId, agentId, expressOnly: index % 2 === 0 })),
        NOW,
      ),
  },
  'jobs are accepted': {
    run: (tx, fleet) => handOver.storeReports(tx, [{ kind: 'accept', ...reportOf(fleet), graceMs: 1, backupMs: 1 }], NOW),
  },
  'jobs begin': { run: (tx, fleet) => handOver.storeReports(tx, [{ kind: 'begin', ...reportOf(fleet), graceMs: 1 }], NOW) },
  'jobs that expire': { run: (tx) => handOver.expireJobs(tx, NOW, 100), by: /\bid\b|expires_at/ },
  'jobs that are overdue': { run: (tx) => handOver.giveUpOverdue(tx, NOW, 100), by: /\bid\b|overdue_at/ },
  'jobs without their event': { run: (tx) => outbox.insertMissedEvents(tx, NOW, 100), by: /jobs_to_notify/ },
  'the place of a report of devices': {
    run: (tx, { teamId, routers: [routerId = ''] }) => devices.selectDeviceScope(tx, teamId, routerId),
  },
  'open forwards': {
    run: (tx, { teamId, routers: [routerId = ''] }) => forwards.countOpenForwards(tx, teamId, routerId),
    by: /forwards_open/,
  },
  'ports in use': { run: (tx) => forwards.selectPortUses(tx, NOW), by: /forwards_open|closed_at/ },
  'claims on routers that wait': { run: (tx) => moves.selectOpenClaims(tx, 500), by: /router_moves_open|\bid\b/ },
};

/** One behind each router: of an empty table PostgreSQL reads all. */
async function addDevices({ db }: Storage): Promise<void> {
  await sql`insert into devices (id, team_id, place, mac, first_seen_at) select id, team_id, id, 'AA:00:00:00:00:01', ${NOW} from routers`.execute(
    db,
  );
  await sql`insert into device_sightings (device_id, router_id, ip_first_seen_at, last_seen_at, present)
    select id, id, ${NOW}, ${NOW}, 1 from routers`.execute(db);
}

describeEachDatabase('what runs for each agent, job and report', (open) => {
  let storage: Storage;
  let fleet: LargeFleet;

  beforeAll(async () => {
    storage = await open();
    fleet = await seedLargeFleet(storage, { agents: 3000, jobs: 12_000, held: 3000, now: NOW });
    await addDevices(storage);
    await learnSizes(storage);
  });

  test.each(Object.entries({ ...OPENING, ...WORK }))('%s: no statement reads more than its own records', async (_what, { run, by }) => {
    const plans = await plansOf(storage, (db) => run(db as unknown as Tx, fleet));
    expect(plans.length).toBeGreaterThan(0);
    for (const { reads, text } of plans)
      for (const { table, through, condition } of reads) {
        if (SMALL.test(table) || table === SKIPPED) continue;
        expect(`${through} ${condition}`, text).toMatch(by ?? ONE_RECORD);
      }
  });
});
