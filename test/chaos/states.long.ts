import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { databaseKinds } from '../harness/databases.ts';
import { Chance } from '../harness/jobs/random.ts';
import { ChaosFleet } from '../harness/states/chaos-fleet.ts';
import { Disturber } from '../harness/states/disturber.ts';
import { Observer } from '../harness/states/observer.ts';
import { STORED_WITHIN_MS } from '../harness/states/told-states.ts';

/**
 * The control plane and the agents are processes that are killed, stopped, frozen and cut off; routers are switched off and on, and all clocks
 * are set. Meanwhile list, detail, overview, search, event stream and faults are compared. Every now and then everything holds still: then all of
 * them have to say what the test has made of each router. `CHAOS_MINUTES` sets how long on each database (15), `CHAOS_SEED` repeats a run.
 */
const MINUTES = Number(process.env['CHAOS_MINUTES'] ?? 15);
const SEED = Number(process.env['CHAOS_SEED'] ?? 1);
/** How long it is disturbed between two looks at the truth, milliseconds. */
const DISTURBED_MS = [20_000, 45_000] as const;

describe.each(databaseKinds())('states under chaos on $name', (kind) => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });

  const start = async (program?: string): Promise<ChaosFleet> => {
    const database = await kind.create();
    closers.push(() => database.remove());
    const fleet = await ChaosFleet.start(database, program);
    closers.push(() => fleet.close());
    return fleet;
  };

  test(`whatever shows a state never contradicts the rest in ${MINUTES} minutes, and ends with the truth`, async () => {
    process.stdout.write(`SIGNALBOX state chaos: ${kind.name}, CHAOS_SEED=${SEED}, ${MINUTES} minutes\n`);
    const fleet = await start();
    const observer = await Observer.start(fleet);
    const chance = new Chance(SEED);
    const disturber = new Disturber(fleet, chance);
    const end = performance.now() + MINUTES * 60_000;
    let rests = 0;
    try {
      do {
        await disturber.disturb(chance.int(...DISTURBED_MS));
        disturber.holdStill();
        await observer.expectTruth(disturber.truths());
        rests += 1;
      } while (performance.now() < end);
    } finally {
      await observer.stop();
      process.stdout.write(`${kind.name}, seed ${SEED}: ${observer.report()}, ${rests} times the truth; ${disturber.report()}\n`);
      for (const what of observer.contradictions) process.stdout.write(`  CONTRADICTION ${what}\n`);
      for (const what of fleet.unaskedEnds) process.stdout.write(`  ENDED BY ITSELF ${what}\n`);
    }
    expect(observer.contradictions).toEqual([]);
    expect(fleet.unaskedEnds).toEqual([]);
    expect(observer.comparisons).toBeGreaterThan(MINUTES * 20);
  });

  test('a control plane that does not tell which states its start has changed is found out', async () => {
    const fleet = await start('test/harness/states/programs/forgetful-server.ts');
    const observer = await Observer.start(fleet);
    const disturber = new Disturber(fleet, new Chance(SEED));
    try {
      await sleep(2 * STORED_WITHIN_MS);
      await disturber.killServer({ isLonely: true });
    } finally {
      await observer.stop();
    }
    expect(observer.contradictions).toContainEqual(expect.stringMatching(/list .*agent_away.*unknown.* last published .*answering/));
  });
});
