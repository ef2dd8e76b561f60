import { afterEach, expect, test } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

let world: World;
afterEach(async () => world.close());

interface Entry {
  name: string;
  router_id: string | null;
  reason: string | null;
  duplicate_of: { name: string; host: string | null; router_id: string } | null;
}

test('two routers with one serial number behind one agent: one is managed, the other is shown, and a fault names both', async () => {
  const twins = [
    { serialNumber: 'CLONED', identity: 'first' },
    { serialNumber: 'CLONED', identity: 'second' },
  ];
  world = await World.start({ routers: twins });
  const { caller } = world;
  const agents = await caller.call<{ data: { id: string }[] }>('GET', '/api/agents');
  const agentId = agents.body.data[0]!.id;
  const entries = await waitUntil('one entry is a duplicate', async () => {
    const list = (await caller.call<{ data: { routers: Entry[] } }>('GET', `/api/agents/${agentId}/routers`)).body.data.routers;
    return list.some(({ reason }) => reason === 'duplicate_serial') && list;
  });
  const duplicate = entries.find(({ reason }) => reason === 'duplicate_serial')!;
  const holder = entries.find(({ name }) => name === duplicate.duplicate_of!.name)!;
  expect(entries).toHaveLength(2);
  expect(duplicate.router_id).toBeNull();
  expect(duplicate.duplicate_of).toEqual({ name: holder.name, host: '127.0.0.1', router_id: holder.router_id });
  const routers = (await caller.call<{ data: { id: string; identity: string }[] }>('GET', '/api/routers')).body.data;
  expect(routers).toHaveLength(1);
  const [router] = routers as [{ id: string; identity: string }];
  const fault = await waitUntil('the fault is open', async () => {
    const { body } = await caller.call<{ data: { type: string; cause: string }[] }>('GET', `/api/routers/${router.id}/faults`);
    return body.data.find(({ type }) => type === 'duplicate_serial');
  });
  for (const { name } of entries) expect(fault.cause).toContain(`"${name}" (127.0.0.1)`);
  // What is asked of the router is asked of the one that has it.
  const command = { command: '/system/identity/print', parameters: '' };
  const { body } = await caller.call<{ data: { name: string }[] }>('POST', `/api/synchronous/${router.id}`, command);
  expect(JSON.stringify(body)).toContain(router.identity);
});
