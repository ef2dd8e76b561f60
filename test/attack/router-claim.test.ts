import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseConfig } from '../../agent/config.ts';
import { startAgent } from '../../agent/app.ts';
import { enrol } from '../../agent/link/enrol.ts';
import type { Inventory } from '../../protocol/index.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { MoveChange } from '../../server/fleet/routers/types.ts';
import { countStatements } from '../harness/count-statements.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedAgent, seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TestAgent } from '../harness/tunnel-world.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** A hostile agent names the serial number of a router that another agent of its team has. */

function factsOf(hardware: string, identity = 'riga'): Inventory['facts'] {
  return {
    hardware_id: hardware,
    serial_number: hardware,
    software_id: null,
    identity,
    software_version: '7.18.2',
    model: 'RB750Gr3',
    board_name: 'hEX',
    hardware_board: true,
    architecture: 'mmips',
    time_zone: null,
    uptime: '1d',
    uptime_seconds: 86_400,
  };
}

const MINUTE = 60_000;

describeEachDatabase('the claim of another agent', (open) => {
  async function setting(moves = { free: false, afterMs: 10 * MINUTE }) {
    const storage = await open();
    const clock = new ManualClock();
    const { teamId } = await seedTeam(storage);
    const make = () => new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75_000 }, moves });
    let routers = make();
    const told: MoveChange[] = [];
    routers.moves.changes.subscribe((change) => told.push(change));
    const [owner, hostile] = [await seedAgent(storage, teamId), await seedAgent(storage, teamId)];
    const connection = (agentId: string) => ({ agentId, teamId, epoch: 1, address: '198.51.100.7', reset: false });
    const connect = (agentId: string) => routers.onReady(connection(agentId));
    const leave = (agentId: string) => routers.onGone(connection(agentId));
    const takeIn = (agentId: string, facts: Inventory['facts'], name = 'one') =>
      routers.onInventory(connection(agentId), { type: 'inventory', router: name, facts });
    const say = (agentId: string, hardware: string, name = 'one') => takeIn(agentId, factsOf(hardware), name);
    const beat = (agentId: string, names: string[]) =>
      routers.onHeartbeat(connection(agentId), {
        type: 'heartbeat',
        routers: names.map((name) => ({ name, reachable: true, uptime_seconds: 1, reason: null })),
      });
    await connect(owner);
    const router = (await say(owner, 'SERIAL0'))!;
    beat(owner, ['one']);
    await connect(hostile);
    return {
      storage,
      clock,
      teamId,
      told,
      owner,
      hostile,
      router,
      connect,
      leave,
      say,
      takeIn,
      beat,
      entries: (agentId: string) => routers.entriesOf(teamId, agentId),
      moves: () => routers.moves,
      restart: () => (routers = make()),
      holder: async () => (await routers.getRouter(teamId, router.id)).agent_id,
      speaksFor: (agentId: string) => routers.routerIdOf(agentId, 'one'),
      pending: async () =>
        (await routers.moves.list(teamId, { limit: 1000, before: undefined })).map(({ agent_id: id, state }) => [id, state]),
    };
  }

  test('waits while the owner is connected, is reported once, and gives the claimant no access', async () => {
    const { say, hostile, owner, holder, speaksFor, told, pending } = await setting();
    expect(await say(hostile, 'SERIAL0')).toBeUndefined();
    expect(await say(hostile, 'SERIAL0')).toBeUndefined();
    expect(await holder()).toBe(owner);
    expect(speaksFor(hostile)).toBeUndefined();
    expect(await pending()).toEqual([[hostile, 'pending']]);
    expect(told.map(({ kind }) => kind)).toEqual(['requested', 'reported_again']);
    expect(told[0]).toMatchObject({ agentId: hostile, ownerId: owner, waiting: [{ agentId: hostile }] });
  });

  test.each(['serial0', ' SERIAL0', 'SERIAL0 ', 'Serial0'])('is the same claim with the spelling %j', async (spelling) => {
    const { say, hostile, owner, holder, pending } = await setting();
    expect(await say(hostile, spelling)).toBeUndefined();
    expect(await holder()).toBe(owner);
    expect(await pending()).toEqual([[hostile, 'pending']]);
  });

  const LOOK_ALIKES = ['SERIAL0\u200B', 'SER\u00ADIAL0', 'SERIAL0\u00A0', '\u0405ERIAL0', 'SERIAL\u{1D7D8}', 'SER  IAL0'];

  test.each(LOOK_ALIKES)('is refused for a look-alike id and shown with its reason: %j', async (spelling) => {
    const { say, hostile, owner, holder, speaksFor, pending, storage, entries } = await setting();
    await say(hostile, 'HONEST');
    expect(await say(hostile, spelling)).toBeUndefined();
    expect(await holder()).toBe(owner);
    expect(await pending()).toEqual([]);
    expect(speaksFor(hostile)).toBeUndefined();
    const rows = await storage.db.selectFrom('routers').select(['hardware_id', 'agent_router']).orderBy('hardware_id').execute();
    // What answers behind the name is no longer the router that did.
    expect(rows).toEqual([
      { hardware_id: 'HONEST', agent_router: '' },
      { hardware_id: 'SERIAL0', agent_router: 'one' },
    ]);
    const [entry] = await entries(hostile);
    expect(entry).toMatchObject({ name: 'one', routerId: null });
    expect(entry!.reason).toMatch(/^inventory: hardware_id ".+" may hold printable ASCII characters only/);
    expect(entry!.reason).toMatch(/^[\x20-\x7e]+$/);
    await say(hostile, 'HONEST');
    expect((await entries(hostile))[0]!.reason).toBeNull();
  });

  test('is refused for a look-alike serial number or software id too', async () => {
    const { hostile, takeIn, entries } = await setting();
    expect(await takeIn(hostile, { ...factsOf('OTHER'), serial_number: 'SERIAL0\u200B' })).toBeUndefined();
    expect((await entries(hostile))[0]!.reason).toMatch(/serial_number "SERIAL0\\u200b"/);
    expect(await takeIn(hostile, { ...factsOf('OTHER'), software_id: '\u0410BCD-1234' })).toBeUndefined();
    expect((await entries(hostile))[0]!.reason).toMatch(/software_id "\\u0410BCD-1234"/);
  });

  test('waits for a CHR or x86 router, identified by its system id, too', async () => {
    const { say, hostile, owner } = await setting();
    const chr = (await say(owner, 'Gwwi+l4x6aO', 'chr'))!;
    expect(await say(hostile, 'Gwwi+l4x6aO', 'chr')).toBeUndefined();
    expect((await say(owner, 'Gwwi+l4x6aO', 'chr'))!.id).toBe(chr.id);
  });

  test('waits while the owner reconnects and while it is disconnected for a minute', async () => {
    const { say, hostile, owner, leave, connect, clock, holder, moves } = await setting();
    leave(owner);
    expect(await say(hostile, 'SERIAL0')).toBeUndefined();
    clock.advance(MINUTE);
    await moves().sweep();
    expect(await holder()).toBe(owner);
    await connect(owner);
    clock.advance(60 * MINUTE);
    const same = await say(owner, 'SERIAL0');
    expect(same?.agent_id).toBe(owner);
  });

  test('is granted when the owner has been disconnected long enough by the monotonic clock', async () => {
    const { say, hostile, owner, leave, clock, holder, moves, told, speaksFor, router, pending } = await setting();
    await say(hostile, 'SERIAL0');
    leave(owner);
    clock.step(24 * 60 * MINUTE);
    await moves().sweep();
    expect(await holder()).toBe(owner);
    clock.advance(10 * MINUTE);
    await moves().sweep();
    expect(await holder()).toBe(hostile);
    expect(speaksFor(hostile)).toBe(router.id);
    expect(told.at(-1)).toMatchObject({ kind: 'moved', agentId: hostile, ownerId: owner, waiting: [] });
    expect(await pending()).toEqual([]);
  });

  test('is not granted to an agent that has disconnected', async () => {
    const { say, hostile, owner, leave, clock, holder, moves } = await setting();
    await say(hostile, 'SERIAL0');
    leave(owner);
    leave(hostile);
    clock.advance(60 * MINUTE);
    await moves().sweep();
    expect(await holder()).toBe(owner);
  });

  test('starts its waiting time again after a restart of the control plane', async () => {
    const { say, hostile, owner, leave, connect, clock, holder, moves, restart } = await setting();
    leave(owner);
    clock.advance(9 * MINUTE);
    restart();
    await connect(hostile);
    expect(await say(hostile, 'SERIAL0')).toBeUndefined();
    clock.advance(9 * MINUTE);
    await moves().sweep();
    expect(await holder()).toBe(owner);
  });

  test('is granted at once when the owner is revoked or reports another device there', async () => {
    const first = await setting();
    await first.storage.db.updateTable('agents').set({ revoked_at: 1 }).where('id', '=', first.owner).execute();
    expect((await first.say(first.hostile, 'SERIAL0'))?.id).toBe(first.router.id);
    const second = await setting();
    await second.say(second.owner, 'SERIAL9');
    expect((await second.say(second.hostile, 'SERIAL0'))?.id).toBe(second.router.id);
  });

  test('is granted when the owner has been connected for a long time without reporting the router', async () => {
    const { say, hostile, owner, leave, connect, clock, beat, moves, holder } = await setting();
    leave(owner);
    await connect(owner);
    expect(await say(hostile, 'SERIAL0')).toBeUndefined();
    clock.advance(75_000);
    beat(owner, ['another']);
    await moves().sweep();
    expect(await holder()).toBe(hostile);
  });

  test('that only waits is looked at together with the others, and one that is due is granted beside them', async () => {
    const { teamId, say, hostile, owner, moves, connect, beat, leave, clock, holder } = await setting();
    for (let index = 0; index < 30; index += 1) {
      await say(owner, `MANY${index}`, `router ${index}`);
      await say(hostile, `MANY${index}`, `router ${index}`);
    }
    await say(hostile, 'SERIAL0');
    const statements = await countStatements(() => moves().sweep());
    expect(statements).toBe(1);
    leave(owner);
    await connect(owner);
    clock.advance(75_000);
    beat(
      owner,
      Array.from({ length: 30 }, (_, index) => `router ${index}`),
    );
    await moves().sweep();
    expect(await holder()).toBe(hostile);
    expect(await moves().claimsOf(teamId, hostile)).toHaveLength(30);
  });

  test('is decided by an administrator once for every spelling, and can be approved later', async () => {
    const { say, hostile, owner, leave, clock, holder, moves, teamId, told, pending, speaksFor } = await setting();
    await say(hostile, 'SERIAL0');
    const { id } = (await moves().list(teamId, { limit: 1, before: undefined }))[0]!;
    await moves().decide(teamId, id, 'refused');
    expect(told.at(-1)).toMatchObject({ kind: 'refused', waiting: [] });
    leave(owner);
    clock.advance(60 * MINUTE);
    expect(await say(hostile, 'serial0')).toBeUndefined();
    await moves().sweep();
    expect(await holder()).toBe(owner);
    expect(await pending()).toEqual([[hostile, 'refused']]);
    await moves().decide(teamId, id, 'approved');
    expect(await holder()).toBe(hostile);
    expect(speaksFor(hostile)).toBeDefined();
    await expect(moves().decide((await seedTeam((await setting()).storage)).teamId, id, 'approved')).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('stays refused when the agent reports another device in between', async () => {
    const { say, hostile, owner, leave, clock, holder, moves, teamId, told } = await setting();
    await say(hostile, 'SERIAL0');
    const { id } = (await moves().list(teamId, { limit: 1, before: undefined }))[0]!;
    await moves().decide(teamId, id, 'refused');
    await say(hostile, 'OTHER');
    expect(await say(hostile, 'SERIAL0')).toBeUndefined();
    expect(told.map(({ kind }) => kind)).not.toContain('withdrawn');
    leave(owner);
    clock.advance(60 * MINUTE);
    expect(await say(hostile, 'SERIAL0')).toBeUndefined();
    await moves().sweep();
    expect(await holder()).toBe(owner);
  });

  test('made and withdrawn repeatedly is logged a thousand times, then every ten seconds', async () => {
    const { say, hostile, told, clock, holder, owner } = await setting();
    const flip = async (): Promise<void> => {
      await say(hostile, 'SERIAL0');
      await say(hostile, 'OTHER');
    };
    for (let index = 0; index < 1010; index += 1) await flip();
    const requests = () => told.filter(({ kind }) => kind === 'requested').length;
    expect(requests()).toBe(1000);
    clock.advance(10_000);
    await flip();
    await flip();
    expect(requests()).toBe(1001);
    expect(await holder()).toBe(owner);
  });

  test('is granted at once when the operator allows free moves', async () => {
    const { say, hostile, router } = await setting({ free: true, afterMs: 0 });
    expect((await say(hostile, 'SERIAL0'))?.id).toBe(router.id);
  });

  test('waits again in each direction when it flaps', async () => {
    const { say, hostile, owner, connect, holder, moves, teamId, leave, clock } = await setting();
    await say(hostile, 'SERIAL0');
    const { id } = (await moves().list(teamId, { limit: 1, before: undefined }))[0]!;
    await moves().decide(teamId, id, 'approved');
    expect(await say(owner, 'SERIAL0')).toBeUndefined();
    leave(hostile);
    await connect(hostile);
    expect((await say(hostile, 'SERIAL0'))?.agent_id).toBe(hostile);
    clock.advance(60 * MINUTE);
    expect(await holder()).toBe(hostile);
  });

  test('is limited per agent', async () => {
    const { say, hostile, owner, pending, leave, connect } = await setting();
    const again = async (): Promise<void> => {
      for (const agent of [owner, hostile]) {
        leave(agent);
        await connect(agent);
      }
    };
    for (let index = 0; index < 501; index += 1) {
      // On one tunnel it may not name so many.
      if (index === 300) await again();
      await say(owner, `MANY${index}`, `router ${index}`);
      expect(await say(hostile, `MANY${index}`, `router ${index}`)).toBeUndefined();
    }
    expect((await pending()).length).toBe(500);
    expect(await say(owner, 'MANY500', 'router 500')).toBeDefined();
  });
});

describe('a hostile agent in the team', () => {
  let world: World;
  let hostile: TestAgent;
  let routerId: string;

  beforeEach(async () => {
    world = await World.start({ server: { SIGNALBOX_ROUTER_MOVE_AFTER_SECONDS: '60' } });
    [routerId] = (await world.routerIds()) as [string];
    const { credentials: auth } = world.server.services;
    const { token } = await auth.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
    const { agent_id: agentId, secret } = await auth.enrolAgent(token, 'hostile');
    hostile = new TestAgent({ agentId, secret }, Number(new URL(world.server.url).port)).start();
    await waitUntil('it is connected', () => hostile.log.some((line) => line.startsWith('ready')));
  });
  afterEach(async () => {
    await hostile.stop();
    await world.close();
  });

  const claim = (hardware = 'SERIAL0') => hostile.send({ type: 'inventory', router: 'one', facts: factsOf(hardware) });
  interface Move {
    id: string;
    state: string;
    to_agent: { id: string; name: string };
  }
  const moves = async () => (await world.caller.call<{ data: Move[] }>('GET', '/api/router-moves')).body.data;
  const faults = async () =>
    (await world.caller.call<{ data: { type: string; status: string }[] }>('GET', `/api/routers/${routerId}/faults`)).body.data;
  const claimed = () => waitUntil('the claim is listed', async () => (await moves()).length > 0);
  const command = async () =>
    (await world.caller.call('POST', `/api/synchronous/${routerId}`, { command: '/system/identity/print', parameters: '' })).status;
  const job = { description: 'x', script: ':put secret', make_backup: false, express_execute: true, needs_acknowledgement: true };

  test('receives no command or job of another agent, and the attempt is reported', async () => {
    claim();
    await claimed();
    expect(await command()).toBe(200);
    const { body } = await world.caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${routerId}`, job);
    await waitUntil('the job is done', async () => {
      const answer = await world.caller.call<{ data: { status: string } }>('GET', `/api/routers/${routerId}/jobs/${body.data.job_id}`);
      return answer.body.data.status === 'completed';
    });
    expect(hostile.log.filter((line) => line.startsWith('on'))).toEqual([]);
    expect(await moves()).toMatchObject([{ state: 'pending', to_agent: { name: 'hostile' } }]);
    await waitUntil('the fault is open', async () =>
      (await faults()).some(({ type, status }) => type === 'move_requested' && status === 'open'),
    );
    const audit = await world.caller.call<{ data: { action: string }[] }>('GET', '/api/audit');
    expect(audit.body.data.map(({ action }) => action)).toContain('router move requested');
    const other = await world.addTeam('Other');
    const [{ id }] = (await moves()) as [Move];
    expect((await other.call<{ data: Move[] }>('GET', '/api/router-moves')).body.data).toEqual([]);
    expect((await other.call('POST', `/api/router-moves/${id}/approve`)).status).toBe(404);
    expect((await world.caller.call('POST', `/api/router-moves/${id}/refuse`)).status).toBe(200);
    await waitUntil('the fault is resolved', async () => (await faults()).every(({ status }) => status === 'resolved'));
    expect(await command()).toBe(200);
  });

  test('gains nothing while the other agent restarts', async () => {
    await world.agent!.close();
    claim();
    await claimed();
    const { body } = await world.caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${routerId}`, job);
    await world.startAgent();
    await waitUntil('the job is done', async () => {
      const answer = await world.caller.call<{ data: { status: string } }>('GET', `/api/routers/${routerId}/jobs/${body.data.job_id}`);
      return answer.body.data.status === 'completed';
    });
    expect(hostile.log.filter((line) => line.startsWith('on'))).toEqual([]);
  });

  test('looks the same as a reinstalled agent, which gets its router with one approval', async () => {
    await world.agent!.close();
    world.agent = undefined;
    const { credentials: auth } = world.server.services;
    const { token } = await auth.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
    const credentialsFile = `${world.folder}/new-credentials.json`;
    await enrol({ server: world.server.url, token, name: 'installed anew', credentialsFile });
    const [simulator] = world.simulators;
    const config = parseConfig(
      {
        server: world.server.url,
        credentials: credentialsFile,
        state: 'new-state',
        routers: [
          { name: 'depot', host: '127.0.0.1', api: { port: simulator!.apiPort, username: 'signalbox', password: 'router-password' } },
        ],
      },
      world.folder,
    );
    const warned: string[] = [];
    const log = { ...silentLog, warn: (_fields: object, message: string) => void warned.push(message), child: () => log };
    const anew = await startAgent(config, { log, random: () => 0 });
    try {
      const [move] = await waitUntil('the claim is listed', async () => {
        const list = await moves();
        return list.length > 0 && list;
      });
      await waitUntil('the agent says that it waits', () => warned.some((message) => message.includes('GET /api/router-moves')));
      expect((await world.caller.call('POST', `/api/router-moves/${move!.id}/approve`)).status).toBe(200);
      await waitUntil('the router answers through it', async () => (await command()) === 200);
      const { body } = await world.caller.call<{ data: { agent_id: string; identity: string } }>('GET', `/api/routers/${routerId}`);
      expect(body.data).toMatchObject({ agent_id: move!.to_agent.id, identity: 'router-0' });
    } finally {
      await anew.close();
    }
  });
});
