import { once } from 'node:events';
import net from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Page } from '../../server/platform/core/page.ts';
import type { ForwardRecord, ListedConnection } from '../../server/work/forwards/types.ts';
import { ForwardWorld } from '../harness/forward-world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** The list of a forward's connections, open and finished. */

let world: ForwardWorld;
let clock: ManualClock;
const sockets: net.Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await world.close();
});

async function makeForward(): Promise<ForwardRecord> {
  clock = new ManualClock(Date.now());
  world = await ForwardWorld.open({ clock });
  return (await world.create({ dstPort: await world.target((socket) => socket.pipe(socket)) })).record;
}

/** A client that has sent so many bytes and had them back, a second after the one before. */
async function enter(port: number, bytes: number): Promise<net.Socket> {
  clock.advance(1000);
  const socket = net.connect({ port, host: '127.0.0.1' });
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(Buffer.alloc(bytes));
  let received = 0;
  while (received < bytes) received += ((await once(socket, 'data'))[0] as Buffer).length;
  return socket;
}

async function leave(record: ForwardRecord, socket: net.Socket): Promise<void> {
  const { openConnections } = await world.get(record.id);
  socket.destroy();
  await waitUntil('it is over', async () => (await world.get(record.id)).openConnections === openConnections - 1);
}

const list = (
  { team_id: team, router_id: router, id }: ForwardRecord,
  page: Page = { limit: 10, before: undefined },
): Promise<ListedConnection[]> => world.forwards.connections(team, router, id, page);

describe('connections', () => {
  it('are listed with their traffic while open, and only once when finished', async () => {
    const record = await makeForward();
    const first = await enter(record.port, 10);
    const second = await enter(record.port, 20);
    const source = `127.0.0.1:${second.localPort}`;
    const [newest, oldest] = await list(record);
    expect(newest).toMatchObject({ source, closed_at: null, ended_by: 'open', bytes_in: 20, bytes_out: 20 });
    expect(oldest).toMatchObject({ opened_at: clock.now() - 1000, closed_at: null, ended_by: 'open', bytes_in: 10 });
    // What is written down of open ones in case of a crash makes nobody appear twice.
    clock.advance(60_000);
    await leave(record, second);
    const listed = await list(record);
    expect(listed.map(({ id, ended_by }) => [id, ended_by])).toEqual([
      [newest!.id, 'closed'],
      [oldest!.id, 'open'],
    ]);
    expect(listed[0]!.closed_at).toBe(clock.now());
    await leave(record, first);
    expect((await list(record)).map(({ ended_by }) => ended_by)).toEqual(['closed', 'closed']);
  });

  it('are listed page by page, each exactly once', async () => {
    const record = await makeForward();
    const all = [];
    for (let bytes = 1; bytes <= 6; bytes += 1) all.push(await enter(record.port, bytes));
    for (const index of [1, 3, 4]) await leave(record, all[index]!);
    const pages: number[][] = [];
    let before: Page['before'];
    for (;;) {
      const page = await list(record, { limit: 2, before });
      if (page.length === 0) break;
      pages.push(page.map(({ bytes_in }) => bytes_in));
      before = { at: page.at(-1)!.opened_at, id: page.at(-1)!.id };
    }
    expect(pages).toEqual([
      [6, 5],
      [4, 3],
      [2, 1],
    ]);
  });

  it('are finished when the control plane was stopped', async () => {
    const record = await makeForward();
    await enter(record.port, 5);
    await world.restartServer();
    expect((await list(record)).map(({ ended_by }) => ended_by)).toEqual(['shutdown']);
  });
});
