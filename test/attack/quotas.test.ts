import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { MAX_ROUTERS_PER_AGENT } from '../../protocol/index.ts';
import type { AgentMessage, Devices } from '../../protocol/index.ts';
import type { AgentConnection } from '../../server/platform/core/agent-gateway.ts';
import { MOST_TARGETS_A_DAY } from '../../server/work/campaigns/service.ts';
import { Counters } from '../../server/platform/core/counters.ts';
import type { Claim, HeldKey } from '../../server/platform/core/idempotency.ts';
import { KEPT_ANSWERS, KeptAnswers } from '../../server/platform/idempotency/kept-answers.ts';
import { IdempotencyStore } from '../../server/platform/idempotency/store.ts';
import { MAX_DEVICES_PER_ROUTER } from '../../server/fleet/devices/limits.ts';
import { DevicesService } from '../../server/fleet/devices/service.ts';
import { PresenceTracker } from '../../server/fleet/routers/presence.ts';
import { MAX_ROUTERS_EVER_PER_AGENT } from '../../server/fleet/routers/limits.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { Secrets } from '../../server/platform/storage/secrets.ts';
import { inventoryOf } from '../harness/attacked-server.ts';
import { CampaignWorld } from '../harness/campaigns/campaign-world.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedAgent, seedRouter, seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const secrets = new Secrets([{ kid: 'one', bytes: Buffer.alloc(32, 1) }]);

type Inventory = Extract<AgentMessage, { type: 'inventory' }>;
const inventory = (name: string, hardwareId = name): Inventory => inventoryOf(name, hardwareId) as Inventory;

describeEachDatabase('routers that an agent invents', (open) => {
  const setUp = async (maxPerTeam?: number) => {
    const storage = await open();
    const { teamId } = await seedTeam(storage);
    const counters = new Counters();
    const routers = new RoutersService({
      storage,
      clock: new ManualClock(),
      log: silentLog,
      rules: { offlineAfterMs: 75_000 },
      counters,
      ...(maxPerTeam === undefined ? {} : { maxPerTeam }),
    });
    const connect = async (): Promise<AgentConnection> => {
      const connection = { agentId: await seedAgent(storage, teamId), teamId, epoch: 1, address: '192.0.2.1', reset: false };
      await routers.onReady(connection);
      return connection;
    };
    return { storage, routers, counters, connect };
  };
  /** Reports some at a time: one after the other, thousands of transactions take a minute on a busy machine. The last ones come alone. */
  const reportAll = async (routers: RoutersService, connection: AgentConnection, all: readonly Inventory[]): Promise<void> => {
    const together = all.slice(0, -10);
    for (let at = 0; at < together.length; at += 50)
      await Promise.all(together.slice(at, at + 50).map((one) => routers.onInventory(connection, one)));
    for (const one of all.slice(-10)) await routers.onInventory(connection, one);
  };
  const count = async ({ db }: Storage): Promise<number> => (await db.selectFrom('routers').select('id').execute()).length;

  test(`are limited to ${MAX_ROUTERS_PER_AGENT} names per tunnel; known names keep working`, async () => {
    const { storage, routers, counters, connect } = await setUp();
    const connection = await connect();
    const names = Array.from({ length: MAX_ROUTERS_PER_AGENT }, (_, i) => inventory(`r${i}`));
    await reportAll(routers, connection, names);
    await expect(routers.onInventory(connection, inventory('one more'))).rejects.toMatchObject({ code: 'quota_exceeded' });
    expect((await routers.onInventory(connection, inventory('r7')))?.identity).toBe('r7');
    expect(await count(storage)).toBe(MAX_ROUTERS_PER_AGENT);
    expect(counters.get('routers_per_agent')).toBe(1);
  });

  test('are limited behind one name too, also across reconnects', async () => {
    const { storage, routers, connect } = await setUp();
    const connection = await connect();
    const devices = Array.from({ length: MAX_ROUTERS_EVER_PER_AGENT }, (_, i) => inventory('one', `hardware ${i}`));
    await reportAll(routers, connection, devices);
    await expect(routers.onInventory(connection, inventory('one', 'one more'))).rejects.toMatchObject({ code: 'quota_exceeded' });
    routers.onGone(connection);
    await routers.onReady(connection);
    await expect(routers.onInventory(connection, inventory('one', 'one more'))).rejects.toMatchObject({ code: 'quota_exceeded' });
    expect(await count(storage)).toBe(MAX_ROUTERS_EVER_PER_AGENT);
  });

  test('are limited per team over all its agents; existing ones keep working and may move', async () => {
    const { storage, routers, counters, connect } = await setUp(10);
    const [first, second] = [await connect(), await connect()];
    for (let i = 0; i < 6; i += 1) await routers.onInventory(first, inventory(`a${i}`));
    for (let i = 0; i < 4; i += 1) await routers.onInventory(second, inventory(`b${i}`));
    await expect(routers.onInventory(second, inventory('b4'))).rejects.toMatchObject({ code: 'quota_exceeded' });
    expect((await routers.onInventory(second, inventory('a0')))?.agent_id).toBe(second.agentId);
    expect(await count(storage)).toBe(10);
    expect(counters.get('routers_per_team')).toBe(1);
  });
});

describeEachDatabase('answers kept for repeats', (open) => {
  const setUp = async () => {
    let now = 1_000_000;
    const storage = await open();
    const { teamId } = await seedTeam(storage);
    const counters = new Counters();
    const scope = (key: string, team = teamId, caller = 'hostile') => ({ teamId: team, scope: 'POST /things', key, caller });
    const store = new IdempotencyStore(storage, secrets, () => now, { counters });
    const fill = async (bytes: number, caller = 'hostile'): Promise<void> => {
      const answer = 'x'.repeat(4 * 1024 * 1024);
      for (let i = 0; i * answer.length < bytes; i += 1) {
        await store.finish(heldBy(await store.claim(scope(`fill ${bytes} ${i}`, teamId, caller), 'body', true)), 200, answer);
      }
    };
    const holding = (caller: string): HeldKey => ({ ...scope('a', teamId, caller), claim: '' });
    return { storage, counters, scope, store, fill, holding, teamId, pass: (ms: number) => void (now += ms), now: () => now };
  };

  test('of one caller are limited, long ones first; repeats are still answered, and other callers have room', async () => {
    const { storage, counters, scope, store, fill, holding, teamId, now } = await setUp();
    await store.finish(heldBy(await store.claim(scope('early'), 'body', true)), 200, '{"early":true}');
    expect(store.hasRoomFor(holding('hostile'), 256 * 1024)).toBe(true);
    await fill(KEPT_ANSWERS.long / 2);
    expect(store.hasRoomFor(holding('hostile'), 256 * 1024)).toBe(false);
    expect(store.hasRoomFor(holding('hostile'), 500)).toBe(true);
    expect(store.hasRoomFor(holding('colleague'), 256 * 1024)).toBe(true);
    await fill(KEPT_ANSWERS.all / 2 - KEPT_ANSWERS.long / 2);
    await expect(store.claim(scope('late'), 'body', true)).rejects.toMatchObject({ code: 'quota_exceeded' });
    expect(await store.claim(scope('early'), 'body', true)).toMatchObject({ state: 'finished', response: '{"early":true}' });
    expect(await store.claim(scope('late', teamId, 'colleague'), 'body', true)).toMatchObject({ state: 'claimed' });
    const { teamId: neighbour } = await seedTeam(storage);
    expect(await store.claim(scope('late', neighbour), 'body', true)).toMatchObject({ state: 'claimed' });
    expect(counters.get('kept_answers_per_caller')).toBe(2);
    // The next start counts them again.
    const next = new IdempotencyStore(storage, secrets, now);
    await next.markInterrupted();
    await expect(next.claim(scope('too late'), 'body', true)).rejects.toMatchObject({ code: 'quota_exceeded' });
    expect(await next.claim(scope('later', teamId, 'colleague'), 'body', true)).toMatchObject({ state: 'claimed' });
  });

  test('of one caller, however many short ones, leave room for long ones of another caller', async () => {
    const { teamId } = await setUp();
    const kept = new KeptAnswers(undefined);
    // Together more than long ones may take.
    for (let i = 0; i < 90_000; i += 1) kept.count({ teamId, caller: 'hostile' }, 1000);
    expect(kept.hasRoomFor({ teamId, caller: 'colleague' }, 256 * 1024)).toBe(true);
  });

  test('of many callers are limited per team', async () => {
    const { teamId } = await setUp();
    const counters = new Counters();
    const kept = new KeptAnswers(counters);
    for (let n = 0; n < 20; n += 1) {
      const caller = { teamId, caller: `key ${n}` };
      while (kept.hasRoomFor(caller, 256 * 1024)) kept.count(caller, 256 * 1024);
    }
    expect(kept.hasRoomFor({ teamId, caller: 'the last' }, 256 * 1024)).toBe(false);
    expect(counters.get('kept_answers_per_team')).toBeGreaterThan(0);
    let all = KEPT_ANSWERS.long;
    for (let n = 0; n < 40; n += 1) {
      const caller = { teamId, caller: `key ${n}` };
      for (; !kept.isFull(caller); all += 1000) kept.count(caller, 1000);
    }
    expect(all / KEPT_ANSWERS.all).toBeGreaterThan(0.99);
    expect(all / KEPT_ANSWERS.all).toBeLessThan(1.01);
  });

  test('expire after a day', async () => {
    const { store, fill, pass, holding } = await setUp();
    await fill(KEPT_ANSWERS.long / 2);
    expect(store.hasRoomFor(holding('hostile'), 256 * 1024)).toBe(false);
    pass(25 * 3_600_000);
    await store.sweep();
    expect(store.hasRoomFor(holding('hostile'), 256 * 1024)).toBe(true);
  });
});

function heldBy(claim: Claim): HeldKey {
  if (claim.state !== 'claimed') throw new Error(`the key is ${claim.state}`);
  return claim.held;
}

describeEachDatabase('campaigns', (open) => {
  test('that are created and canceled repeatedly are limited per day', async () => {
    const world = await CampaignWorld.start(await open(), { routers: 3 });
    try {
      await world.campaigns.cancelCampaign(world.fleet.teamId, await world.create());
      // As if there had been very many.
      await sql`update campaigns set target_count = ${MOST_TARGETS_A_DAY - 3}`.execute(world.storage.db);
      await world.campaigns.cancelCampaign(world.fleet.teamId, await world.create());
      await expect(world.create({ routerIds: world.fleet.routerIds.slice(0, 1), canaryCount: 0 })).rejects.toMatchObject({
        code: 'quota_exceeded',
      });
      world.clock.advance(24 * 3_600_000 + 1);
      await world.create();
    } finally {
      await world.stop();
    }
  });
});

describeEachDatabase('devices that an agent invents', (open) => {
  test(`are limited to ${MAX_DEVICES_PER_ROUTER} behind a router; known ones are still updated`, async () => {
    const storage = await open();
    const { teamId, agentId, routerId } = await seedRouter(storage);
    const counters = new Counters();
    const devices = new DevicesService({
      storage,
      clock: new ManualClock(),
      log: silentLog,
      counters,
      routers: { routerIdOf: () => routerId, presence: new PresenceTracker({ offlineAfterMs: 75_000 }, new ManualClock()) },
      manufacturers: { lookup: async () => () => null },
    });
    const connection = { agentId, teamId, epoch: 1, address: '192.0.2.1', reset: false };
    const report = (first: number, ip: string): Devices => ({
      type: 'devices',
      router: 'one',
      kind: 'delta',
      first: false,
      last: false,
      gone: [],
      devices: Array.from({ length: 500 }, (_, index) => ({ mac: macOf(first + index), ip })),
    });
    for (let first = 0; first < MAX_DEVICES_PER_ROUTER - 100; first += 500) await devices.onDevices(connection, report(first, '10.0.0.1'));
    for (let i = 1; i <= 3; i += 1) await devices.onDevices(connection, report(MAX_DEVICES_PER_ROUTER * i, '10.0.0.1'));
    const stored = await storage.db.selectFrom('devices').select('id').where('team_id', '=', teamId).execute();
    expect(stored).toHaveLength(MAX_DEVICES_PER_ROUTER);
    expect(counters.get('devices_per_router')).toBe(3);
    await devices.onDevices(connection, report(0, '10.0.0.2'));
    expect(await devices.getDevice(teamId, macOf(3))).toMatchObject({ mac: macOf(3) });
    const moved = await storage.db.selectFrom('device_sightings').select('device_id').where('ip_address', '=', '10.0.0.2').execute();
    expect(moved).toHaveLength(500);
  });
});

function macOf(number: number): string {
  return number
    .toString(16)
    .toUpperCase()
    .padStart(12, '0')
    .replaceAll(/(..)(?=.)/g, '$1:');
}
