import { beforeEach, expect, test } from 'vitest';
import type { HealthReadings } from '../../protocol/index.ts';
import { AppError } from '../../server/platform/core/errors.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { teamFaultsRoute } from '../../server/fleet/faults/list/routes.ts';
import { faultRoutes } from '../../server/fleet/faults/routes.ts';
import { FaultsService } from '../../server/fleet/faults/service.ts';
import type { FaultEvent } from '../../server/fleet/faults/types.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { RouterRecord } from '../../server/fleet/routers/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultsBench } from '../harness/faults-bench.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TeamApp } from '../harness/team-app.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const START = 1_700_000_000_000;

describeEachDatabase('faults', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let routers: RoutersService;
  let faults: FaultsBench;
  let app: TeamApp;
  let mine: SeededRouter;
  let other: SeededRouter;
  let events: FaultEvent[];

  const startService = async (): Promise<FaultsBench> => {
    const rules = { heartbeatMs: 30 * SECOND, offlineAfterMs: 75 * SECOND };
    const service = new FaultsBench({ storage, clock, log: silentLog, rules, routers, onFault: (event) => events.push(event) });
    await service.start();
    return service;
  };

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    events = [];
    mine = await seedRouter(storage);
    other = await seedRouter(storage);
    routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75_000 } });
    faults = await startService();
    app = new TeamApp((scope) => {
      const list = {
        listFaults: (...query: Parameters<FaultsService['listFaults']>) => faults.listFaults(...query),
        listTeamFaults: (...query: Parameters<FaultsService['listTeamFaults']>) => faults.listTeamFaults(...query),
      };
      faultRoutes(scope, { faults: list, now: () => clock.now() });
      teamFaultsRoute(scope, { faults: list, now: () => clock.now() });
    });
    await faults.onReady(connection());
    return () => faults.stop();
  });

  const connection = (router = mine) => ({
    agentId: router.agentId,
    teamId: router.teamId,
    epoch: 1,
    address: '198.51.100.7',
    reset: false,
  });
  const beat = (reachable: boolean, uptime: number | null = null, router = mine): void => {
    const beats = [{ name: `router ${router.routerId}`, reachable, uptime_seconds: uptime, reason: reachable ? null : 'timed out' }];
    faults.onHeartbeat(connection(router), { type: 'heartbeat', routers: beats });
  };
  /** Time goes by with heartbeats. */
  const live = (ms: number, reachable: boolean): void => {
    for (let passed = 0; passed < ms; passed += 30 * SECOND) {
      beat(reachable);
      clock.advance(30 * SECOND);
    }
  };
  const readings: HealthReadings = {
    cpu_load: 5,
    temperatures: [],
    voltage: null,
    free_memory: null,
    total_memory: null,
    free_hdd: null,
    total_hdd: null,
    clock_offset_seconds: 0,
    wan: [],
    position: null,
  };
  const list = async (query = '', router = mine) => {
    await faults.stored();
    const { body } = await app.get(mine.teamId, `/api/routers/${router.routerId}/faults${query}`);
    return body['data'] as Record<string, unknown>[];
  };
  const moment = (seconds: number): string => new Date(START + seconds * SECOND).toISOString();

  test('an open fault has every field, and runs on', async () => {
    beat(true);
    clock.advance(30 * SECOND);
    live(3 * MINUTE, false);
    expect(await list()).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        rid: mine.routerId,
        type: 'router_offline',
        severity: 'critical',
        message: 'The router is offline',
        cause: 'timed out',
        created_at: moment(30),
        resolved_at: null,
        duration: 180,
        status: 'open',
        occurrences: 1,
      },
    ]);
    clock.advance(60 * SECOND);
    expect(await list()).toMatchObject([{ duration: 240 }]);
  });

  test('it ends with the next heartbeat', async () => {
    live(3 * MINUTE, false);
    beat(true);
    clock.advance(MINUTE);
    expect(await list()).toMatchObject([{ status: 'resolved', created_at: moment(0), resolved_at: moment(180), duration: 180 }]);
    expect(events.filter(({ fault }) => fault.router_id === mine.routerId).map(({ kind, fault }) => `${kind} ${fault.type}`)).toEqual([
      'opened router_offline',
      'resolved router_offline',
    ]);
  });

  test('a router that flaps all night has one fault that came back often', async () => {
    for (let i = 0; i < 50; i += 1) {
      live(2 * MINUTE, false);
      live(3 * MINUTE, true);
    }
    const all = await list();
    expect(all).toMatchObject([{ type: 'router_offline', occurrences: 50, status: 'resolved', created_at: moment(0) }]);
  });

  test('what comes back after a quiet time is another fault; the newest is first', async () => {
    live(3 * MINUTE, false);
    live(20 * MINUTE, true);
    live(3 * MINUTE, false);
    expect(await list()).toMatchObject([{ status: 'open', occurrences: 1 }, { status: 'resolved' }]);
    expect(await list('?status=open')).toHaveLength(1);
    expect(await list('?status=resolved')).toHaveLength(1);
  });

  test('of each type one is open', async () => {
    for (let minute = 0; minute < 10; minute += 1) {
      faults.onHealth(connection(), {
        type: 'health',
        router: `router ${mine.routerId}`,
        readings: { ...readings, cpu_load: 99, clock_offset_seconds: 9000, wan: [{ interface: 'ether1', running: false }] },
      });
      live(MINUTE, true);
    }
    expect((await list()).map((fault) => fault['type'])).toEqual(expect.arrayContaining(['clock_wrong', 'high_cpu', 'wan_down']));
    const row = {
      team_id: mine.teamId,
      router_id: mine.routerId,
      severity: '',
      message: '',
      cause: '',
      created_at: 1,
      resolved_at: null,
      occurrences: 1,
      updated_at: 1,
    };
    await expect(
      storage.db
        .insertInto('faults')
        .values({ ...row, id: newId(1), type: 'high_cpu' })
        .execute(),
    ).rejects.toThrow();
  });

  test('an agent that is away is a fault of each of its routers, not of others', async () => {
    const second = await seedRouter(storage, { teamId: mine.teamId, agentId: mine.agentId });
    faults.onInventory(connection(), await routers.getRouter(mine.teamId, second.routerId));
    beat(true);
    beat(true, null, second);
    faults.onGone(connection());
    clock.advance(3 * MINUTE);
    expect(await list()).toMatchObject([{ type: 'agent_offline', status: 'open', created_at: moment(0) }]);
    expect(await list('', second)).toMatchObject([{ type: 'agent_offline', status: 'open' }]);
    await faults.onReady(connection());
    // As the state, until the agent says something of the router.
    expect(await list()).toMatchObject([{ status: 'open' }]);
    beat(true);
    expect(await list()).toMatchObject([{ type: 'agent_offline', status: 'resolved', resolved_at: moment(180) }]);
  });

  test('a device that another has replaced is offline; the new one is well', async () => {
    live(MINUTE, true);
    const facts = {
      hardware_id: 'NEW',
      serial_number: 'NEW',
      software_id: null,
      identity: 'new',
      software_version: '7.18.2',
      model: null,
      board_name: 'CHR',
      hardware_board: false,
      architecture: null,
      time_zone: null,
      uptime: '5m',
      uptime_seconds: 300,
    };
    await routers.onReady(connection());
    const replacement: RouterRecord = (await routers.onInventory(connection(), {
      type: 'inventory',
      router: `router ${mine.routerId}`,
      facts,
    }))!;
    faults.onInventory(connection(), replacement);
    live(5 * MINUTE, true);
    expect(await list()).toMatchObject([{ type: 'router_offline', status: 'open', created_at: moment(30) }]);
    expect(await list('', { ...mine, routerId: replacement.id })).toEqual([]);
    faults.onGone(connection());
    clock.advance(5 * MINUTE);
    expect((await list()).map((fault) => fault['type'])).toEqual(['router_offline']);
    expect((await list('', { ...mine, routerId: replacement.id })).map((fault) => fault['type'])).toEqual(['agent_offline']);
  });

  test('a restart of the control plane neither ends faults nor makes them', async () => {
    live(3 * MINUTE, false);
    await faults.stop();
    clock.advance(60 * MINUTE);
    faults = await startService();
    clock.advance(30 * SECOND);
    await faults.onReady(connection());
    beat(false);
    clock.advance(10 * SECOND);
    expect(await list()).toMatchObject([{ type: 'router_offline', status: 'open', created_at: moment(0), occurrences: 1 }]);
    beat(true);
    expect(await list()).toMatchObject([{ status: 'resolved' }]);
  });

  test('an agent that comes back and tells who its dead router is does not end the fault', async () => {
    live(3 * MINUTE, false);
    await faults.stored();
    const opened = events.filter(({ fault }) => fault.router_id === mine.routerId);
    faults.onGone(connection());
    await faults.onReady(connection());
    beat(false);
    faults.onInventory(connection(), await routers.getRouter(mine.teamId, mine.routerId));
    live(3 * MINUTE, false);
    expect(await list()).toMatchObject([{ type: 'router_offline', status: 'open', created_at: moment(0), occurrences: 1 }]);
    expect(events.filter(({ fault }) => fault.router_id === mine.routerId)).toEqual(opened);
  });

  test('a router that is new at an agent of long standing is not taken for a silent one', async () => {
    live(5 * MINUTE, true);
    const second = await seedRouter(storage, { teamId: mine.teamId, agentId: mine.agentId });
    faults.onInventory(connection(), await routers.getRouter(mine.teamId, second.routerId));
    clock.advance(20 * SECOND);
    expect(await list('', second)).toEqual([]);
    // Nor is one that was told of and then never mentioned again.
    live(5 * MINUTE, true);
    expect(await list('', second)).toMatchObject([{ type: 'router_offline', status: 'open', created_at: moment(300) }]);
  });

  test('what cannot be stored now is stored later, in order', async () => {
    const { writes } = storage;
    let broken = true;
    const flaky: Storage = {
      ...storage,
      writes: { write: (work) => (broken ? Promise.reject(new AppError('unavailable', 'disk full')) : writes.write(work)) },
    };
    await faults.stop();
    storage = flaky;
    faults = await startService();
    await faults.onReady(connection());
    live(3 * MINUTE, false);
    beat(true);
    expect(await list()).toEqual([]);
    broken = false;
    clock.advance(30 * SECOND);
    expect(await list()).toMatchObject([{ status: 'resolved', created_at: moment(0), resolved_at: moment(180) }]);
  });

  test('pages follow each other without gap', async () => {
    for (let i = 0; i < 5; i += 1) {
      live(2 * MINUTE, false);
      live(30 * MINUTE, true);
    }
    await faults.stored();
    const seen: unknown[] = [];
    let url: string | undefined = `/api/routers/${mine.routerId}/faults?limit=2`;
    while (url !== undefined) {
      const { body, headers } = await app.get(mine.teamId, url);
      seen.push(...(body['data'] as { created_at: string }[]).map((fault) => fault.created_at));
      url = /<([^>]+)>; rel="next"/.exec(String(headers['link']))?.[1];
    }
    expect(seen).toEqual([128, 96, 64, 32, 0].map((minutes) => moment(minutes * 60)));
  });

  test("another team's router does not exist, and its names mean nothing here", async () => {
    await faults.onReady(connection(other));
    beat(true, null, other);
    faults.onGone(connection(other));
    faults.onHeartbeat(connection(), {
      type: 'heartbeat',
      routers: [{ name: `router ${other.routerId}`, reachable: false, uptime_seconds: null, reason: null }],
    });
    clock.advance(3 * MINUTE);
    await faults.stored();
    expect((await app.get(mine.teamId, `/api/routers/${other.routerId}/faults`)).status).toBe(404);
    const { body } = await app.get(other.teamId, `/api/routers/${other.routerId}/faults`);
    // Its own agent has never had a tunnel.
    expect((body['data'] as { type: string }[]).map((fault) => fault.type)).toEqual(['agent_offline']);
  });
});
