import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../harness/databases.ts';
import type { TestDatabase } from '../harness/databases.ts';
import { Listener } from '../harness/event-listener.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

const gapsOf = (times: readonly number[]) => times.slice(1).map((time, index) => time - times[index]!);
/** Two timers of one process and the way of an event: a gap may be that much shorter. */
const TOLERANCE_MS = 150;

describe.each(databaseKinds())('events about progress, on $name', ({ create }) => {
  let database: TestDatabase;
  let world: World;
  beforeAll(async () => {
    database = await create();
    world = await World.start({ databaseUrl: database.url, routers: [{}, {}, {}] });
  });
  afterAll(async () => {
    await world.close();
    await database.remove();
  });

  test('the progress of a campaign comes at most once a second and ends with the figures of the campaign', async () => {
    const listener = await Listener.start(world, world.caller, { types: ['campaign.progress', 'campaign.completed'] });
    const { body } = await world.caller.call<{ data: { id: string } }>('POST', '/api/campaigns', {
      router_ids: await world.routerIds(),
      description: 'test',
      script: ':delay 1s; :put 1',
      make_backup: false,
      express_execute: true,
      needs_acknowledgement: true,
      most_at_once: 1,
    });
    const read = async () =>
      (await world.caller.call<{ data: Record<string, unknown> }>('GET', `/api/campaigns/${body.data.id}`)).body.data;
    const last = await waitUntil(
      'the last figures are reported',
      () => listener.heard.find(({ data }) => data['state'] === 'finished' && data['counts'] !== undefined),
      30_000,
    );
    const { counts, canaries, target_count } = await read();
    expect(last.data).toMatchObject({ campaign_id: body.data.id, state: 'finished', counts, canaries, target_count });
    expect(counts).toMatchObject({ completed: 3 });
    const progress = listener.heard.filter(({ type }) => type === 'campaign.progress');
    const completed = progress.map(({ data }) => (data['counts'] as { completed: number }).completed);
    expect(completed).toEqual(completed.toSorted((one, other) => one - other));
    expect(progress.length).toBeGreaterThanOrEqual(3);
    for (const gap of gapsOf(progress.map(({ data }) => Date.parse(String(data['at']))))) expect(gap).toBeGreaterThan(1000 - TOLERANCE_MS);
    await listener.stop();
  });

  test('the traffic of a forward comes to those who watch it, at most once in 2 s, and to nobody else', async () => {
    const [router] = await world.routerIds();
    const target = net.createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
    await once(target, 'listening');
    const path = `/api/routers/${router}/transient-forwarding`;
    const { body } = await world.caller.call('POST', path, {
      expire_after_minutes: 10,
      dst_port: (target.address() as net.AddressInfo).port,
      dst_address: '127.0.0.1',
      allow_from: '127.0.0.1',
    });
    const id = String(body['id']);
    const other = await world.addTeam('Other');
    const watcher = await Listener.start(world, world.caller, { types: ['forward.traffic'], watch: [id] });
    const everything = await Listener.start(world, world.caller);
    const stranger = await Listener.start(world, other, { watch: [id] });
    const client = net.connect(Number(body['port']), '127.0.0.1').on('error', () => undefined);
    const sending = setInterval(() => client.write(Buffer.alloc(100)), 100);
    const bytes = () => Number(watcher.heard.at(-1)?.data['bytes_in'] ?? 0);
    await waitUntil('traffic is heard three times', () => watcher.heard.length >= 3, 20_000);
    clearInterval(sending);
    client.end();
    const read = async () => (await world.caller.call('GET', `${path}/${id}`)).body;
    await waitUntil('the last figures are heard', async () => bytes() > 0 && bytes() === (await read())['bytes_in'], 20_000);
    await waitUntil('the connection is over', () => watcher.heard.at(-1)?.data['open_connections'] === 0, 20_000);
    const { connection_count, bytes_in, bytes_out } = await read();
    expect(watcher.heard.at(-1)!.data).toMatchObject({ forward_id: id, router_id: router, connection_count, bytes_in, bytes_out });
    const heard = watcher.heard.map(({ data }) => Date.parse(String(data['at'])));
    for (const gap of gapsOf(heard)) expect(gap).toBeGreaterThan(2000 - TOLERANCE_MS);
    expect(everything.types).not.toContain('forward.traffic');
    expect(stranger.types).toEqual([]);
    await Promise.all([watcher.stop(), everything.stop(), stranger.stop()]);
    target.close();
  });

  test('what cannot be watched is refused and named', async () => {
    const ask = (watch: string) => world.caller.call<{ errors?: unknown }>('GET', `/api/events?watch=${watch}`);
    const many = Array.from({ length: 21 }, () => '01a1fba3-2c11-7d2c-9f0e-3a1c5e7b9d24').join(',');
    for (const watch of ['no-id', many]) {
      const { status, body } = await ask(watch);
      expect([status, JSON.stringify(body).includes('watch')]).toEqual([422, true]);
    }
  });
});
