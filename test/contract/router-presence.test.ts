import { beforeEach, expect, test } from 'vitest';
import { MAX_ROUTERS_PER_AGENT } from '../../protocol/index.ts';
import type { Inventory, RouterHeartbeat } from '../../protocol/index.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedAgent, seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const SECOND = 1000;
const START = 1_700_000_000_000;

/** Whether a router answers is said by heartbeats alone; an inventory says who it is. */
describeEachDatabase('the pulse of a router', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let routers: RoutersService;
  let teamId: string;
  let agentId: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    ({ teamId } = await seedTeam(storage));
    agentId = await seedAgent(storage, teamId);
    routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75 * SECOND } });
    await routers.onReady(connection());
  });

  const connection = (agent = agentId) => ({ agentId: agent, teamId, epoch: 1, address: '198.51.100.7', reset: false });
  const beat = (reachable: boolean, name = 'branch'): void => {
    const said: RouterHeartbeat = { name, reachable, uptime_seconds: reachable ? 500 : null, reason: null };
    routers.onHeartbeat(connection(), { type: 'heartbeat', routers: [said] });
  };
  const inventory = async (hardware = 'SERIAL1', agent = agentId): Promise<string> => {
    const facts: Inventory['facts'] = {
      hardware_id: hardware,
      serial_number: hardware,
      software_id: null,
      identity: 'riga',
      software_version: '7.18.2',
      model: null,
      board_name: 'CHR',
      hardware_board: false,
      architecture: null,
      time_zone: null,
      uptime: '1d',
      uptime_seconds: 86_400,
    };
    return (await routers.onInventory(connection(agent), { type: 'inventory', router: 'branch', facts }))!.id;
  };
  const pulse = (id: string): boolean => routers.presence.isAnswering(id);

  test('is written no more after the stop, also when a write was under way at that moment', async () => {
    await routers.start();
    clock.advance(5 * SECOND);
    await routers.stop();
    await new Promise(setImmediate);
    expect(clock.pending).toBe(0);
  });

  test('is there as soon as a new router is known, whichever of the two came first', async () => {
    beat(true);
    const first = await inventory();
    expect(pulse(first)).toBe(true);
    expect(routers.presence.get(first)).toEqual({ reachable: true, uptimeSeconds: 500, lastSeenAt: START, lastSeenFrom: '198.51.100.7' });
    const written = inventory('SERIAL2');
    beat(true);
    expect(pulse(await written)).toBe(true);
  });

  test('is not there because an agent that is back tells who its dead router was', async () => {
    beat(true);
    const id = await inventory();
    clock.advance(600 * SECOND);
    routers.onGone(connection());
    await routers.onReady(connection());
    beat(false);
    await inventory();
    expect(pulse(id)).toBe(false);
    expect(routers.presence.get(id).lastSeenAt).toBe(START);
  });

  test('is not there before anything was said of it', async () => {
    expect(pulse(await inventory())).toBe(false);
    beat(true);
    routers.onGone(connection());
    await routers.onReady(connection());
    // What the tunnel before said is over with it.
    expect(pulse(await inventory('SERIAL2'))).toBe(false);
  });

  test('moves with the router to its new agent', async () => {
    beat(true);
    const id = await inventory();
    clock.advance(100 * SECOND);
    const other = await seedAgent(storage, teamId);
    await routers.onReady(connection(other));
    routers.onHeartbeat(connection(other), {
      type: 'heartbeat',
      routers: [{ name: 'branch', reachable: true, uptime_seconds: 7, reason: null }],
    });
    expect(await inventory('SERIAL1', other)).toBe(id);
    expect(routers.presence.get(id)).toMatchObject({ reachable: true, lastSeenAt: START + 100 * SECOND });
  });

  test('of names that no heartbeat reported is dropped when there are too many', async () => {
    for (let index = 0; index < MAX_ROUTERS_PER_AGENT; index += 1) beat(true, `made-up ${index}`);
    beat(true);
    expect(pulse(await inventory())).toBe(false);
    beat(true);
    expect(pulse(await inventory())).toBe(true);
  });
});
