import { afterEach, expect, it } from 'vitest';
import { newId } from '../../server/platform/core/ids.ts';
import { insertConnections } from '../../server/work/forwards/connections/store.ts';
import { addCounts } from '../../server/work/forwards/store.ts';
import { ForwardWorld } from '../harness/forward-world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { waitUntil } from '../harness/wait-until.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let world: ForwardWorld;
afterEach(() => world.close());

it('deletes finished connections after 30 days, and the oldest ones beyond the limit of a forward', async () => {
  const clock = new ManualClock(Date.now());
  world = await ForwardWorld.open({ clock, limits: { keepConnections: 600 } });
  const busy = (await world.create({ dstPort: 9 })).record;
  const quiet = (await world.create({ dstPort: 9 })).record;
  const finished = (forwardId: string, openedAt: number) => ({
    id: newId(openedAt),
    teamId: busy.team_id,
    forwardId,
    source: '203.0.113.7',
    openedAt,
    closedAt: openedAt + 1,
    bytesIn: 1,
    bytesOut: 1,
    endedBy: 'closed' as const,
  });
  const now = clock.now();
  const many = Array.from({ length: 1700 }, (_unused, index) => finished(busy.id, now - index));
  const old = [finished(quiet.id, now - 31 * DAY), finished(quiet.id, now - 29 * DAY)];
  await world.storage.writes.write(async (tx) => {
    await insertConnections(tx, [...many, ...old]);
    const counts = { connections: many.length, refused: 0, bytesIn: 0, bytesOut: 0 };
    await addCounts(tx, { teamId: busy.team_id, id: busy.id }, counts);
  });
  const left = async (id: string): Promise<number[]> => {
    const rows = await world.storage.db
      .selectFrom('forward_connections')
      .select('opened_at')
      .where('forward_id', '=', id)
      .orderBy('opened_at', 'desc')
      .execute();
    return rows.map((row) => row.opened_at);
  };

  clock.advance(HOUR);
  await waitUntil('the sweep is over', async () => (await left(busy.id)).length === 600);
  expect(await left(busy.id)).toEqual(many.slice(0, 600).map(({ openedAt }) => openedAt));
  expect(await left(quiet.id)).toEqual([now - 29 * DAY]);
});
