import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** An export that differs from the one before it is an event, on a v6 and a v7 router. */

interface Shown {
  id: string;
  state: string;
  changed: boolean | null;
}

let world: World;
let ids: string[];
const events: { type: string; data: Record<string, unknown> }[] = [];
const stop = new AbortController();

beforeAll(async () => {
  world = await World.start({ routers: [{ version: '6.49.18' }, { version: '7.18.2' }] });
  ids = await world.routerIds();
  const stream = await fetch(`${world.server.url}/api/events?types=config.changed,backup.stored`, {
    headers: { authorization: `Bearer ${world.caller.apiKey}` },
    signal: stop.signal,
  });
  void read(stream).catch(() => undefined);
});
afterAll(async () => {
  stop.abort();
  await world.close();
});

async function read(stream: Response): Promise<void> {
  let text = '';
  for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const type = /^event: (.+)$/m.exec(block)?.[1];
      if (type) events.push({ type, data: JSON.parse(/^data: (.+)$/m.exec(block)![1]!) as Record<string, unknown> });
    }
  }
}

/** Takes an export and waits until it has been compared. */
async function compared(router: number): Promise<Shown> {
  const route = `/api/routers/${ids[router]!}/backups`;
  const { body } = await world.caller.call<{ data: Shown }>('POST', route, { parts: ['export'] });
  return waitUntil('the export is compared', async () => {
    const { body: all } = await world.caller.call<{ data: Shown[] }>('GET', route);
    return all.data.find(({ id, changed }) => id === body.data.id && changed !== null);
  });
}

const set = (router: number, name: string) =>
  world.caller.call('POST', `/api/synchronous/${ids[router]!}`, { command: '/system/identity/set', parameters: `name=${name}` });

test.each([0, 1])('router %i: only a change of the configuration is an event', async (router) => {
  const routerId = ids[router]!;
  const mine = (type: string) => events.filter(({ type: each, data }) => each === type && data['router_id'] === routerId);
  const first = await compared(router);
  const second = await compared(router);
  expect([first.changed, second.changed]).toEqual([false, false]);
  await set(router, 'depot');
  const third = await compared(router);
  expect(third.changed).toBe(true);
  await waitUntil('the change is an event', () => mine('config.changed').length > 0);
  expect(mine('config.changed')).toEqual([
    {
      type: 'config.changed',
      data: expect.objectContaining({ backup_id: third.id, from_backup_id: second.id, lines_added: 1, lines_removed: 1 }) as unknown,
    },
  ]);
  expect(mine('backup.stored').map(({ data }) => data['backup_id'])).toEqual([first.id, second.id, third.id]);
  expect(mine('backup.stored')[0]!.data).toMatchObject({ job_id: null, origin: 'request', error: null });
  expect(JSON.stringify(events)).not.toContain('depot');
});
