import process from 'node:process';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../harness/databases.ts';
import type { TestDatabase } from '../harness/databases.ts';
import { Follower, readTruth } from '../harness/follower.ts';
import type { Truth } from '../harness/follower.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';
import { SOME_CAUSES } from '../harness/causes.ts';

/** What can happen to the records of a team. `which` chooses a router, or one of the records that were made. */
const step = fc.oneof(
  fc.record({ do: fc.constant('job' as const), which: fc.nat(2), express: fc.boolean() }),
  fc.record({ do: fc.constant('cancel' as const), which: fc.nat(20) }),
  fc.record({ do: fc.constant('forward' as const), which: fc.nat(2) }),
  fc.record({ do: fc.constant('extend' as const), which: fc.nat(20) }),
  fc.record({ do: fc.constant('revoke' as const), which: fc.nat(20) }),
  fc.record({ do: fc.constant('fault' as const), which: fc.nat(2), isOver: fc.boolean() }),
  fc.record({ do: fc.constant('agent' as const) }),
  // Half of all steps, so that lists are read at every moment of the load.
  fc.record({ do: fc.constant('follow' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Runs of each database; each with up to this many steps, eight at a time. */
const RUNS = 4;
const STEPS = 40;
const AT_ONCE = 8;
const MOST_FOLLOWERS = 4;

describe.each(databaseKinds())('clients that read the lists and then the stream behind them, on $name', (kind) => {
  let database: TestDatabase;
  let world: World;
  let routers: string[];

  beforeAll(async () => {
    database = await kind.create();
    world = await World.start({ routers: [{}, {}, {}], databaseUrl: database.url });
    routers = await world.routerIds();
  });
  afterAll(async () => {
    await world?.close();
    await database?.remove();
  });

  const truth = async (): Promise<Truth> => {
    const headers = { authorization: `Bearer ${world.caller.apiKey}` };
    return (await readTruth((path) => fetch(`${world.server.url}${path}`, { headers }))).truth;
  };

  class Run {
    readonly followers: Follower[] = [];
    #followed = 0;
    readonly #jobs: [string, string][] = [];
    readonly #forwards: [string, string][] = [];

    async take(one: Step): Promise<void> {
      const { caller } = world;
      const { services } = world.server;
      switch (one.do) {
        case 'job': {
          const routerId = routers[one.which]!;
          const job = { description: 'x', script: ':put 1', make_backup: false, express_execute: one.express, needs_acknowledgement: true };
          const { body } = await caller.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${routerId}`, job);
          this.#jobs.push([routerId, body.data.job_id]);
          return;
        }
        case 'cancel': {
          const [routerId, id] = this.#jobs[one.which] ?? [];
          if (id) await caller.call('DELETE', `/api/routers/${routerId}/jobs/${id}`);
          return;
        }
        case 'forward': {
          const routerId = routers[one.which]!;
          const forward = { expire_after_minutes: 10, dst_port: 80, dst_address: '127.0.0.1', allow_from: '127.0.0.1' };
          const { status, body } = await caller.call<{ id: string }>('POST', `/api/routers/${routerId}/transient-forwarding`, forward);
          if (status === 200) this.#forwards.push([routerId, body.id]);
          return;
        }
        case 'extend': {
          const [routerId, id] = this.#forwards[one.which] ?? [];
          if (id)
            await caller.call('PATCH', `/api/routers/${routerId}/transient-forwarding/${id}`, { expire_after_minutes: 20 + one.which });
          return;
        }
        case 'revoke': {
          const [routerId, id] = this.#forwards[one.which] ?? [];
          if (id) await caller.call('DELETE', `/api/routers/${routerId}/transient-forwarding/${id}`);
          return;
        }
        case 'fault':
          services.faults.setCondition(
            routers[one.which]!,
            'devices_truncated',
            one.isOver ? null : { message: 'too many', causes: SOME_CAUSES },
          );
          return;
        case 'agent':
          if (world.agent) {
            const { agent } = world;
            world.agent = undefined;
            await agent.close();
            await world.startAgent();
          }
          return;
        case 'follow':
          // The first is there from the start. A key has five streams.
          if (this.#followed === MOST_FOLLOWERS) return;
          this.#followed += 1;
          this.followers.push(await Follower.start(world, caller));
      }
    }
  }

  /** Nothing is under way any more, and the lists say the same twice. */
  const settled = async (): Promise<Truth> =>
    waitUntil('everything has ended', async () => {
      const first = await truth();
      const isBusy = Object.values(first.jobs).some(({ status }) => status === 'pending' || status === 'running');
      if (isBusy || Object.values(first.routers).some(({ state }) => state !== 'answering')) return undefined;
      return JSON.stringify(await truth()) === JSON.stringify(first) ? first : undefined;
    });

  test('end with the state of the server, whatever happens and whenever they begin', async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: STEPS / 2, maxLength: STEPS }), async (steps) => {
      const run = new Run();
      run.followers.push(await Follower.start(world, world.caller));
      try {
        for (let at = 0; at < steps.length; at += AT_ONCE) await Promise.all(steps.slice(at, at + AT_ONCE).map((one) => run.take(one)));
        const expected = await settled();
        expect(Object.keys(expected.routers)).toHaveLength(routers.length);
        for (const follower of run.followers) {
          await waitUntil(
            'the follower knows it all',
            async () => follower.lost !== undefined || JSON.stringify(sorted(follower.truth)) === JSON.stringify(sorted(expected)),
          ).catch(() => undefined);
          expect(follower.lost).toBeUndefined();
          expect(follower.truth).toEqual(expected);
        }
      } finally {
        await Promise.all(run.followers.map((follower) => follower.stop()));
      }
    });
    await fc.assert(property, { numRuns: RUNS, seed: Number(process.env['FOLLOWERS_SEED'] ?? 15), endOnFailure: true });
  }, 600_000);
});

/** The same records in one order, to compare them as text. */
function sorted(truth: Truth): unknown {
  return Object.values(truth).map((records) => Object.entries(records).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
