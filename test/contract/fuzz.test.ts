import { afterAll, beforeAll, expect, test } from 'vitest';
import { Tally, fuzzOperation, fuzzTargets, fuzzedOperations, startFuzzWorld } from '../harness/fuzz/fuzz.ts';
import type { Hints } from '../harness/fuzz/arbitraries.ts';
import type { World } from '../harness/world.ts';

/** Requests of each operation: a few seconds in all. The long run has 20,000. */
const RUNS = 20;
const SEED = 7;

let world: World;
let hints: Hints;
beforeAll(async () => {
  ({ world, hints } = await startFuzzWorld());
});
afterAll(async () => world.close());

test('whatever is sent to any route, the answer is what the document says', async () => {
  const targets = await fuzzTargets(world);
  const operations = targets.flatMap(({ url, api }) => fuzzedOperations(api).map((operation) => ({ url, api, operation })));
  expect(operations.length).toBeGreaterThan(15);
  const failures: string[] = [];
  const tally = new Tally();
  for (const { url, api, operation } of operations) {
    await fuzzOperation({ world, url, api, hints, runs: RUNS, seed: SEED, tally }, operation).catch((error: unknown) =>
      failures.push(String(error)),
    );
  }
  expect(failures).toEqual([]);
});
