import { beforeEach, expect, test } from 'vitest';
import { EventsService } from '../../server/outbound/events/service.ts';
import { insertKept, takeKept } from '../../server/outbound/events/store.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { silentLog } from '../harness/silent-log.ts';
import { seedTeam } from '../harness/seed.ts';

describeEachDatabase('events over a restart', (open) => {
  let storage: Storage;
  let north: string;
  let south: string;
  beforeEach(async () => {
    storage = await open();
    north = (await seedTeam(storage)).teamId;
    south = (await seedTeam(storage)).teamId;
  });

  const take = () => storage.writes.write(takeKept);
  const keep = (events: EventsService, online: string[] = []) =>
    storage.writes.write((tx) =>
      insertKept(
        tx,
        events.kept.map((stream) => ({ ...stream, online })),
      ),
    );
  const ask = (teamId: string, lastEventId?: string) => ({
    teamId,
    callerId: 'key',
    lastEventId,
    types: [],
    isStillAllowed: async () => true,
  });
  const idsOf = (stream: { read: () => unknown }) =>
    [...String(stream.read()).matchAll(/^id: (\S+)\nevent: (\S+)$/gm)].map(([, id, type]) => `${id!.split('.')[1]} ${type}`);

  test('each team continues where it was, and each event is taken once', async () => {
    const before = new EventsService({ clock: new ManualClock(), log: silentLog });
    for (let i = 0; i < 1200; i += 1) before.publish({ teamId: north, type: 'job.pending', data: { i } });
    before.publish({ teamId: south, type: 'fault.opened', data: { message: 'half \ud800 and \0' } });
    const { origin } = before.kept.find(({ teamId }) => teamId === north)!;
    await keep(before, ['router']);

    const after = new EventsService({ clock: new ManualClock(), log: silentLog });
    const kept = await take();
    const found = new Map(kept.map(({ teamId, last, entries, online }) => [teamId, [last, entries.length, online]]));
    expect(found).toEqual(
      new Map([
        [north, [1200, 1000, ['router']]],
        [south, [1, 1, ['router']]],
      ]),
    );
    after.restore(kept);
    after.publish({ teamId: north, type: 'job.running', data: {} });
    expect(idsOf(after.open(ask(north, `${origin}.1199`)))).toEqual(['1200 job.pending', '1201 job.running']);
    expect(idsOf(after.open(ask(north, `${origin}.100`)))).toEqual(['1201 resync']);
    // After a crash nothing is there, and readers are told so.
    expect(await take()).toEqual([]);
  });

  test('what was kept may be kept again', async () => {
    const before = new EventsService({ clock: new ManualClock(), log: silentLog });
    before.publish({ teamId: north, type: 'job.pending', data: {} });
    await keep(before);
    const first = await take();
    before.restore(first);
    await keep(before);
    expect(await take()).toEqual(first);
  });
});
