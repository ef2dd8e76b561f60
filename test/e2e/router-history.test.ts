import { afterAll, beforeAll, expect, test } from 'vitest';
import { Terminals } from '../harness/terminal-world.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

interface Item {
  kind: string;
  at: string;
  until: string | null;
  status: string;
  title: string;
  by: string | null;
  link: string | null;
}

let world: World;
beforeAll(async () => {
  world = await World.start({ terminal: 'read' });
});
afterAll(async () => world.close());

test('what was done with a router and what happened to it is on one axis, and the links lead to it', async () => {
  const [id] = await world.routerIds();
  const { caller } = world;
  const post = async (path: string, body: object) => expect((await caller.call('POST', path, body)).status, path).toBe(200);
  // By its name, as people type it.
  await post('/api/synchronous/router-0', { command: '/system/identity/print', parameters: '' });
  await post(`/api/asynchronous/${id}`, {
    description: 'say one',
    script: ':put 1',
    make_backup: true,
    express_execute: true,
    needs_acknowledgement: true,
  });
  await post(`/api/routers/${id}/transient-forwarding`, {
    expire_after_minutes: 10,
    dst_port: 80,
    dst_address: '127.0.0.1',
    allow_from: '127.0.0.1',
  });
  const terminals = new Terminals(world);
  const { opened, client } = await terminals.atPrompt(id!);
  await terminals.end(opened.id);
  await client.ending();
  const shell = await terminals.open(id!);
  await caller.call('POST', '/api/synchronous/router-0', { command: '/no/such/menu', parameters: '' });

  const read = async () => (await caller.call<{ data: Item[] }>('GET', `/api/routers/${id}/history`)).body.data;
  const items = await waitUntil('the job and its backup are done', async () => {
    const all = await read();
    const isDone = all.some(({ kind, status }) => kind === 'job' && status === 'completed');
    return isDone && all.some(({ kind, status }) => kind === 'backup' && status === 'stored') ? all : undefined;
  });
  const found = (kind: string) => items.filter((item) => item.kind === kind);
  expect(found('state').map(({ title, until }) => [title, until === null])).toEqual([
    ['answering', true],
    ['never_seen', false],
  ]);
  expect(found('session')).toMatchObject([{ status: 'open', until: null }]);
  expect(found('job')).toMatchObject([{ title: 'say one', by: 'test', until: expect.any(String) }]);
  expect(found('forward')).toMatchObject([{ title: '127.0.0.1:80 for 127.0.0.1/32', status: 'open', by: 'test' }]);
  expect(found('terminal')).toMatchObject([
    { title: 'read: a test looks at it', status: 'open', until: null, by: 'test' },
    { title: 'read: a test looks at it', status: 'closed', until: expect.any(String), by: 'test' },
  ]);
  expect(found('backup')).toHaveLength(1);
  expect(found('action').map(({ title, status, by }) => [title, status, by])).toEqual([
    ['POST /api/synchronous/:router_id: /no/such/menu', '422', 'test'],
    ['POST /api/synchronous/:router_id: /system/identity/print', '200', 'test'],
  ]);
  const { body: overview } = await caller.call<{ data: { open_terminals: number } }>('GET', '/api/overview');
  expect(overview.data.open_terminals).toBe(1);
  await terminals.end(shell.id);
  for (const { link } of items) if (link !== null) expect((await caller.call('GET', link)).status, link).toBe(200);
});
