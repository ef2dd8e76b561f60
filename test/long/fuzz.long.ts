import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Tally, fuzzOperation, fuzzTargets, fuzzedOperations, startFuzzWorld } from '../harness/fuzz/fuzz.ts';
import type { Hints } from '../harness/fuzz/arbitraries.ts';
import type { World } from '../harness/world.ts';

/** Over all routes. */
const REQUESTS = 20_000;
/** Another one every day, the same one again with FUZZ_SEED. */
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Date.now() / 86_400_000));

/** These need a record in a certain state, or one that was used up; they are tested by name elsewhere. */
const MAY_ALWAYS_BE_REFUSED = [
  'pauseCampaign',
  'resumeCampaign',
  'cancelCampaign',
  'resendDelivery',
  'inviteMember',
  'rotateApiKey',
  'changeOwnPassword',
];

let world: World;
let hints: Hints;
beforeAll(async () => {
  ({ world, hints } = await startFuzzWorld());
});
afterAll(async () => world.close());

test(`${REQUESTS} requests generated from the document get documented answers, seed ${SEED}`, async () => {
  const targets = await fuzzTargets(world);
  const operations = targets.flatMap(({ url, api }) => fuzzedOperations(api).map((operation) => ({ url, api, operation })));
  const runs = Math.ceil(REQUESTS / operations.length);
  const failures: string[] = [];
  const tally = new Tally();
  for (const { url, api, operation } of operations) {
    await fuzzOperation({ world, url, api, hints, runs, seed: SEED, tally }, operation).catch((error: unknown) =>
      failures.push(String(error)),
    );
  }
  expect(failures).toEqual([]);
  expect(
    tally.neverSucceeded.filter((name) => !MAY_ALWAYS_BE_REFUSED.includes(name)),
    String(tally),
  ).toEqual([]);
  expect(await world.routerIds(), 'the product still works').toHaveLength(1);
});
