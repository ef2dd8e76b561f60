import { afterEach, expect, test } from 'vitest';
import type { ForwardChange } from '../../server/work/forwards/types.ts';
import { ForwardWorld } from '../harness/forward-world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { waitUntil } from '../harness/wait-until.ts';

let world: ForwardWorld;
afterEach(async () => {
  await world.close();
});

test('ten thousand reports of a lost way cost one write, plus one for each new way that is requested', async () => {
  const clock = new ManualClock(Date.now());
  world = await ForwardWorld.open({ clock });
  const { record } = await world.create({ dstPort: 9 });
  const changes: string[] = [];
  world.forwards.changes.subscribe(({ kind }: ForwardChange) => changes.push(kind));
  const flood = (): void => {
    for (let index = 0; index < 10_000; index += 1) world.forwards.onForwardLost(world.connection, record.id, `gone ${index}`);
  };
  flood();
  await waitUntil('it is told', async () => (await world.get(record.id)).record.way === null);
  flood();
  clock.advance(15_000);
  await waitUntil('there is a way again', async () => (await world.get(record.id)).record.way === 'direct');
  flood();
  await waitUntil('it is told again', async () => (await world.get(record.id)).record.way === null);
  expect(changes).toEqual(['lost', 'authorized', 'lost']);
});
