import { expect, test, expectTypeOf } from 'vitest';
import { Assembly } from '../../../server/compose/assembly.ts';
import { AgentEventFanOut } from '../../../server/compose/wires/agent-events.ts';
import { feature } from '../../../server/feature.ts';
import type { AgentConnection } from '../../../server/platform/core/agent-gateway.ts';

const connection: AgentConnection = { agentId: 'a', teamId: 't', epoch: 1, address: '192.0.2.1', reset: false };

/** Three features that write down what happens to them. The second fails to start when told so. */
function three({ isBroken = false } = {}) {
  const log: string[] = [];
  const said = (text: string) => () => void log.push(text);
  const first = feature({
    create: ({ name }: { name: string }) => ({ first: `first of ${name}` }),
    start: said('start first'),
    stop: said('stop first'),
    sweep: async () => void log.push('sweep first'),
    agentListener: () => ({ onReady: said('ready first'), onGone: said('gone first'), onHeartbeat: said('heartbeat first') }),
  });
  const second = feature({
    create: (needs: { first: string }) => ({ second: `second after ${needs.first}` }),
    start: () => {
      log.push('start second');
      if (isBroken) throw new Error('second is broken');
    },
    stop: said('stop second'),
    agentListener: () => ({
      onReady: async () => {
        await Promise.resolve();
        log.push('ready second');
      },
      onGone: said('gone second'),
    }),
  });
  const third = feature({
    create: ({ second: name }: { second: string }) => ({ third: name }),
    start: said('start third'),
    stop: said('stop third'),
    sweep: async () => void log.push('sweep third'),
    agentListener: () => ({ onReady: said('ready third'), onHeartbeat: said('heartbeat third') }),
  });
  const all = Assembly.of({ name: 'all' }).add(first).add(second).add(third);
  return { log, services: all.services, features: all.complete(all.services) };
}

test('a feature is built from the services of the features before it', () => {
  expect(three().services).toEqual({
    name: 'all',
    first: 'first of all',
    second: 'second after first of all',
    third: 'second after first of all',
  });
});

test('features start in the order of the list and stop in the reverse order', async () => {
  const { log, features } = three();
  const closers: (() => Promise<void>)[] = [];
  await features.start(closers);
  for (const close of closers.toReversed()) await close();
  expect(log).toEqual(['start first', 'start second', 'start third', 'stop third', 'stop second', 'stop first']);
});

test('only features that started are stopped', async () => {
  const { log, features } = three({ isBroken: true });
  const closers: (() => Promise<void>)[] = [];
  await expect(features.start(closers)).rejects.toThrow('second is broken');
  for (const close of closers.toReversed()) await close();
  expect(log).toEqual(['start first', 'start second', 'stop first']);
});

test('old records are deleted feature by feature', async () => {
  const { log, features } = three();
  await features.sweep(new AbortController().signal);
  expect(log).toEqual(['sweep first', 'sweep third']);
});

test('features hear an agent in the order of the list, and of its end in the reverse order', async () => {
  const { log, features } = three();
  const agents = new AgentEventFanOut();
  agents.connect({ listeners: features.listeners, storeInventory: () => Promise.resolve() });
  await agents.onReady(connection, []);
  agents.onHeartbeat(connection, { type: 'heartbeat', routers: [] });
  agents.onGone(connection, { endedBy: 'left', at: 0, lastHeardAt: 0 });
  expect(log).toEqual(['ready first', 'ready second', 'ready third', 'heartbeat first', 'heartbeat third', 'gone second', 'gone first']);
});

test('a heartbeat of a router waits for the inventory that came before it, and the others do not', async () => {
  const heard: string[][] = [];
  const agents = new AgentEventFanOut();
  let store = (): void => undefined;
  agents.connect({
    listeners: [{ onHeartbeat: (_connection, { routers }) => void heard.push(routers.map(({ name }) => name)) }],
    storeInventory: () => new Promise((resolve) => (store = resolve)),
  });
  const beat = (name: string) => ({ name, reachable: true, uptime_seconds: 1, reason: null });
  agents.onInventoryArrived(connection, 'new');
  const facts = {
    hardware_id: 'h',
    serial_number: null,
    software_id: null,
    identity: 'new',
    software_version: '7.18.2',
    model: null,
    board_name: 'CHR',
    hardware_board: false,
    architecture: null,
    time_zone: null,
    uptime: '1s',
    uptime_seconds: 1,
  };
  const stored = agents.onInventory(connection, { type: 'inventory', router: 'new', host: '192.0.2.9', facts });
  agents.onHeartbeat(connection, { type: 'heartbeat', routers: [beat('new'), beat('old')] });
  expect(heard).toEqual([['old']]);
  store();
  await stored;
  expect(heard).toEqual([['old'], ['new']]);
});

test('two features cannot bring services with the same name', () => {
  const one = feature({ create: () => ({ same: 1 }) });
  expect(() => Assembly.of({}).add(one).add(one)).toThrow('two features bring a service named same');
});

test('a service that is missing is an error of the compiler', () => {
  const needy = feature({ create: ({ missing }: { missing: string }) => ({ needy: missing }) });
  const fed = feature({ create: ({ other }: { other: number }) => ({ needy: String(other) }) });
  const before = Assembly.of({ other: 1 });
  type Addable = Parameters<typeof before.add<{ needy: string }, unknown, unknown, unknown>>[0];
  expectTypeOf(fed).toExtend<Addable>();
  // No feature before it brings `missing`.
  expectTypeOf(needy).not.toExtend<Addable>();
  const late = feature({ create: () => ({}), routes: (_scope, _services: { missing: string }) => undefined });
  const all = before.add(late);
  type Complete = Parameters<typeof all.complete>[0];
  expectTypeOf({ ...all.services, missing: '' }).toExtend<Complete>();
  // No feature brings what its routes need.
  expectTypeOf(all.services).not.toExtend<Complete>();
  expect(Object.keys(all.services)).toEqual(['other']);
});
