import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Storage } from '../../server/platform/storage/db.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { silentLog } from '../harness/silent-log.ts';
import type { Answer } from '../harness/world.ts';
import { World } from '../harness/world.ts';

/** A forward is requested again with its Idempotency-Key after the control plane was killed during its creation. */

interface Shown {
  id: string;
  port: number;
  expires_at: string;
}

let world: World;
let routerId: string;
let storage: Storage;
beforeAll(async () => {
  // The process that was asked is the one that starts again.
  world = await World.start({ spread: false });
  routerId = (await world.routerIds())[0]!;
  storage = await openStorage(world.databaseUrl, { log: silentLog });
});
afterAll(async () => {
  await storage.close();
  await world.close();
});

const REQUEST = { expire_after_minutes: 10, dst_port: 9, dst_address: '127.0.0.1', allow_from: '192.0.2.1' };

function ask(key: string): Promise<Answer<Shown>> {
  return world.caller.call<Shown>('POST', `/api/routers/${routerId}/transient-forwarding`, REQUEST, { 'idempotency-key': key });
}

/** As `kill -9` leaves it: nothing is known of the answer. */
async function killBeforeTheAnswer(key: string): Promise<void> {
  await storage.db.updateTable('idempotency_keys').set({ status: null, response: null }).where('key', '=', key).execute();
  await world.restartServer();
}

const idsOf = async (): Promise<string[]> =>
  (await world.caller.call<{ data: Shown[] }>('GET', `/api/routers/${routerId}/transient-forwarding`)).body.data.map(({ id }) => id);

test('a repeat answers with the created forward and makes no second one', async () => {
  const first = await ask('killed-behind-the-insert');
  expect(first.status).toBe(200);
  await killBeforeTheAnswer('killed-behind-the-insert');
  const again = await ask('killed-behind-the-insert');
  expect(again.status).toBe(200);
  const { id, port, expires_at } = first.body;
  expect(again.body).toMatchObject({ id, port, expires_at });
  expect(await idsOf()).toEqual([id]);
  expect((await ask('killed-behind-the-insert')).headers.get('idempotency-replayed')).toBe('true');
});

test('a repeat makes the forward when there is none yet', async () => {
  const first = await ask('killed-before-the-insert');
  await world.caller.call('DELETE', `/api/routers/${routerId}/transient-forwarding/${first.body.id}`);
  await storage.db.deleteFrom('forwards').where('id', '=', first.body.id).execute();
  await killBeforeTheAnswer('killed-before-the-insert');
  const again = await ask('killed-before-the-insert');
  expect(again.status).toBe(200);
  expect(again.body.id).not.toBe(first.body.id);
});

test('another idempotency key, or none, makes another forward', async () => {
  const before = (await idsOf()).length;
  await ask('one-key');
  await ask('another-key');
  await world.caller.call('POST', `/api/routers/${routerId}/transient-forwarding`, REQUEST);
  await world.caller.call('POST', `/api/routers/${routerId}/transient-forwarding`, REQUEST);
  expect(await idsOf()).toHaveLength(before + 4);
});
