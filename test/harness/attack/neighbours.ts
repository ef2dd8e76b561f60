import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ATTACKS, PORTS } from './attacks.ts';
import { HostileTeam } from './hostile-team.ts';
import { OPERATIONS, Neighbour } from './neighbour.ts';
import type { Operation, Slowest } from './neighbour.ts';
import { freePort } from '../installation.ts';
import { waitUntil } from '../wait-until.ts';
import { World } from '../world.ts';

/**
 * One hostile team at full force, and a neighbour who does the usual: nothing is refused, and the slowest of each operation
 * takes at most twice as long as at rest.
 */

/** Noise only adds time, and a starved client is starved every time: the best of this many measurements of an operation counts. */
const MEASUREMENTS = 4;

/** Port of the TLS name entry. */
let nameDoor: number;

let world: World;
let neighbour: Neighbour;
let hostile: HostileTeam;
/** Measured at the start and right before the attack, because other load on the machine varies. */
let atRest: Slowest;
let atFirst: Slowest;

/** @returns the operations that exceed their limit, with their durations */
async function tooSlowOf(operations: readonly Operation[], noiseMs: number): Promise<Map<Operation, string>> {
  const slowest = await neighbour.measure();
  const mayTake = (rest: number): number => Math.max(2 * rest, rest + noiseMs);
  const tooSlow = operations.filter((operation) => slowest[operation] > mayTake(atRest[operation]));
  return new Map(
    tooSlow.map((operation) => [operation, `${slowest[operation].toFixed(0)} ms, at rest ${atRest[operation].toFixed(0)} ms`]),
  );
}

async function expectServed(noiseMs: number): Promise<void> {
  let tooSlow = await tooSlowOf(OPERATIONS, noiseMs);
  for (let n = 1; n < MEASUREMENTS && tooSlow.size > 0; n += 1) tooSlow = await tooSlowOf([...tooSlow.keys()], noiseMs);
  expect(Object.fromEntries(tooSlow)).toEqual({});
}

/**
 * @param noiseMs what an operation may take longer than at rest, whatever it takes there. Attackers, server, agent and simulated
 *   router share one process here, so operations of a few milliseconds would fail by a collection of garbage and not by the attack
 */
export function describeNeighbours({ noiseMs }: { noiseMs: number }): void {
  beforeAll(async () => {
    nameDoor = await freePort();
    world = await World.start({
      routers: [{}, {}, {}],
      server: {
        SIGNALBOX_FORWARD_PORTS: `${PORTS.first}-${PORTS.last}`,
        SIGNALBOX_FORWARD_DOMAIN: 'forward.example.net',
        SIGNALBOX_FORWARD_NAME_LISTEN: `127.0.0.1:${nameDoor}`,
      },
    });
    neighbour = await Neighbour.start(world);
    await neighbour.measure();
    atFirst = await neighbour.measure();
  });
  afterAll(async () => {
    await neighbour.close();
    await world.close();
  });
  beforeEach(async () => {
    const now = await neighbour.measure();
    atRest = Object.fromEntries(OPERATIONS.map((operation) => [operation, Math.max(atFirst[operation], now[operation])])) as Slowest;
    hostile = await HostileTeam.join(world);
  });
  afterEach(() => hostile.close());

  describe('a neighbour is served as at rest beside a team with', () => {
    it.each(Object.entries(ATTACKS))('%s', { timeout: 150_000 }, async (_name, attack) => {
      const strength = await attack({ world, hostile, neighbour, nameDoor });
      await waitUntil('the attack is felt at the server', async () => (await strength()) > 0);
      await expectServed(noiseMs);
      await waitUntil('the attack is still felt at the server', async () => (await strength()) > 0);
    });
  });
}
