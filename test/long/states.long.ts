import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import process from 'node:process';
import { databaseKinds } from '../harness/databases.ts';
import { Chance } from '../harness/jobs/random.ts';
import { Stand } from '../harness/stand.ts';
import { Observer } from '../harness/states/observer.ts';
import { Disturber } from '../harness/states/disturber.ts';
import { World } from '../harness/world.ts';

/**
 * Agents, routers, lines and the control plane come and go at random, while list, detail, overview, event stream and faults are compared. Every
 * now and then everything holds still, and the states have to be what the test has made of each router. `CHAOS_MINUTES` sets how long
 * (30 on both databases together), `CHAOS_SEED` repeats a run.
 */
const MINUTES = Number(process.env['CHAOS_MINUTES'] ?? 30);
const SEED = Number(process.env['CHAOS_SEED'] ?? 1);
const STANDS = 5;

describe.each(databaseKinds())('states under chaos on $name', (kind) => {
  let world: World;
  let remove: () => Promise<void>;
  const stands: Stand[] = [];

  beforeAll(async () => {
    const database = await kind.create();
    remove = database.remove;
    world = await World.start({ databaseUrl: database.url, routers: [] });
    for (let index = 0; index < STANDS; index += 1) stands.push(await Stand.start(world, `stand-${index}`));
  });
  afterAll(async () => {
    await Promise.all(stands.map((stand) => stand.close()));
    await world.close();
    await remove();
  });

  test(`list, detail, overview, events and faults never contradict each other in ${MINUTES / 2} minutes, and end with the truth`, async () => {
    const chance = new Chance(SEED);
    const observer = new Observer(world, stands);
    const disturber = new Disturber(world, stands, chance);
    const end = performance.now() + (MINUTES / 2) * 60_000;
    await observer.start();
    try {
      do {
        await disturber.disturb(chance.int(20, 45) * 1000);
        await disturber.holdStill();
        await observer.expectTruth(disturber.truths());
      } while (performance.now() < end);
    } finally {
      await observer.stop();
    }
    process.stdout.write(`${kind.name}, seed ${SEED}: ${observer.report()}; ${disturber.report()}\n`);
    expect(observer.contradictions).toEqual([]);
    expect(observer.comparisons).toBeGreaterThan(MINUTES * 10);
  });
});
