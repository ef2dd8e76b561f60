import { afterEach, expect, test } from 'vitest';
import type { Inventory } from '../../protocol/index.ts';
import { TestAgent } from '../harness/tunnel-world.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** Another device answers behind an entry of an agent's configuration: a replacement, or a floating address. */

let world: World;
let agent: TestAgent;
afterEach(async () => {
  await agent.stop();
  await world.close();
});

function factsOf(hardware: string): Inventory['facts'] {
  return {
    hardware_id: hardware,
    serial_number: hardware,
    software_id: null,
    identity: hardware,
    software_version: '7.18.2',
    model: null,
    board_name: 'hEX',
    hardware_board: true,
    architecture: 'mmips',
    time_zone: null,
    uptime: '1d',
    uptime_seconds: 86_400,
  };
}

async function startWorld(): Promise<string> {
  world = await World.start({ routers: [] });
  const { credentials: auth } = world.server.services;
  const { token } = await auth.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
  const { agent_id: agentId, secret } = await auth.enrolAgent(token, 'test');
  agent = new TestAgent({ agentId, secret }, Number(new URL(world.server.url).port));
  agent.heartbeats = [];
  agent.start();
  await waitUntil('it is connected', () => agent.log.some((line) => line.startsWith('ready')));
  return agentId;
}

test('a router whose inventory cannot be read is listed with the reason', async () => {
  const agentId = await startWorld();
  const reason = 'inventory: the router shows neither a serial number nor a software id';
  agent.link.sendHeartbeat([{ name: 'mute', reachable: true, uptime_seconds: null, reason }]);
  const entries = async () =>
    (await world.caller.call<{ data: { routers: { router_id: string | null }[] } }>('GET', `/api/agents/${agentId}/routers`)).body.data
      .routers;
  const list = await waitUntil('it is listed', async () => {
    const found = await entries();
    return found.length > 0 && found;
  });
  expect(list).toEqual([{ name: 'mute', host: null, router_id: null, reachable: true, reason, duplicate_of: null }]);
  agent.send({ type: 'inventory', router: 'mute', facts: factsOf('KNOWN') });
  await waitUntil('it is known', async () => (await entries())[0]?.router_id !== null);
  const other = await world.addTeam('Other');
  expect((await other.call('GET', `/api/agents/${agentId}/routers`)).status).toBe(404);
});

test('a shorter uptime of the new router does not count as a reboot of the old one', async () => {
  await startWorld();
  const { faults } = world.server.services;
  const list = async () =>
    (await world.caller.call<{ data: { id: string; identity: string; has_pulse: boolean }[] }>('GET', '/api/routers')).body.data;
  const sendHeartbeat = (uptime: number) =>
    agent.link.sendHeartbeat([{ name: 'one', reachable: true, uptime_seconds: uptime, reason: null }]);
  const appear = async (hardware: string, uptime: number): Promise<string> => {
    agent.send({ type: 'inventory', router: 'one', facts: factsOf(hardware) });
    sendHeartbeat(uptime);
    return waitUntil(
      `${hardware} answers`,
      async () => (await list()).find(({ identity, has_pulse: pulse }) => identity === hardware && pulse)?.id,
    );
  };
  const old = await appear('OLD', 86_400);
  await appear('NEW', 100);
  sendHeartbeat(101);
  await faults.stop();
  const { body } = await world.caller.call<{ data: { type: string }[] }>('GET', `/api/routers/${old}/faults`);
  expect(body.data.map(({ type }) => type)).not.toContain('rebooted');
});
