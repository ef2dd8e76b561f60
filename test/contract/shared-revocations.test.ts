import { afterEach, beforeEach, expect, test } from 'vitest';
import { RevocationsService } from '../../server/access/revocations/service.ts';
import type { RevocationsDeps } from '../../server/access/revocations/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { insertRevocation } from '../../server/platform/storage/revocations.ts';
import { MemoryBus } from '../harness/cluster/memory-bus.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

const SECOND = 1000;

describeEachDatabase('revocations of two control planes', (open) => {
  let storage: Storage;
  let bus: MemoryBus;
  let teamId: string;
  let one: Node;
  let two: Node;

  /** With a clock of its own, so that the test decides who checks. */
  class Node {
    readonly clock = new ManualClock(Date.parse('2031-05-01T12:00:00Z'));
    readonly disconnected: string[] = [];
    /** What it finds to have ended, once it may. */
    ended: Promise<string[]> = Promise.resolve([]);
    asked = 0;
    readonly service: RevocationsService;

    constructor(isOwner: boolean) {
      this.service = new RevocationsService({
        storage,
        clock: this.clock,
        log: silentLog,
        forwards: { dropAgent: async () => undefined },
        terminals: {
          dropAgent: async () => undefined,
          endedOf: () => {
            this.asked += 1;
            return this.ended;
          },
        },
        gateway: { disconnect: (agentId: string) => this.disconnected.push(agentId) },
        cluster: { bus: bus.connect(), members: { isOwn: () => isOwner } },
      } as unknown as RevocationsDeps);
      this.service.start();
    }
  }

  beforeEach(async () => {
    storage = await open();
    bus = new MemoryBus();
    teamId = (await seedTeam(storage)).teamId;
    one = new Node(true);
    two = new Node(false);
  });
  afterEach(() => Promise.all([one, two].map(({ service }) => service.stop())));

  /** As the command line does it. */
  const revoke = (): Promise<void> =>
    storage.writes.write((tx) => insertRevocation(tx, { teamId, kind: 'agent', subjectId: 'lost', now: one.clock.now() }));
  const has = (node: Node) => (): boolean => node.disconnected.includes('lost');

  test('are found by the one that checks every second, which tells the other', async () => {
    await revoke();
    await waitUntil('both have ended the tunnel', () => {
      // Again and again: the pass of its start may still be reading, and the next one is a second after it.
      one.clock.advance(SECOND);
      return has(one)() && has(two)();
    });
  });

  test('are told by the one that was asked, before its own pass', async () => {
    await revoke();
    await two.service.enforce(teamId);
    expect(has(two)()).toBe(true);
    await waitUntil('the other has ended the tunnel', has(one));
  });

  test('end the connections of one that reads them after the other has carried them out', async () => {
    bus.isUp = false;
    await revoke();
    await one.service.enforce(teamId);
    await waitUntil('the first pass is stored', async () => {
      const { passes } = await storage.db.selectFrom('revocations').select('passes').executeTakeFirstOrThrow();
      return passes === 1;
    });
    expect(has(two)()).toBe(false);
    bus.isUp = true;
    await one.service.enforce(teamId);
    await waitUntil('the other has ended the tunnel', has(two));
  });

  test('are reported whole when both have carried out the same pass', async () => {
    const [first, second] = [Promise.withResolvers<string[]>(), Promise.withResolvers<string[]>()];
    one.ended = first.promise;
    two.ended = second.promise;
    await revoke();
    const enforced = one.service.enforce(teamId);
    await waitUntil('both are at it', () => one.asked > 0 && two.asked > 0);
    first.resolve(['of one', 'of both']);
    await enforced;
    const stored = async () => (await one.service.list(teamId, { limit: 10, before: undefined }))[0]!;
    expect((await stored()).passes).toBe(1);
    second.resolve(['of both', 'of two']);
    await waitUntil('the second report is stored', async () => (await stored()).report.ended.terminals.ids.includes('of two'));
    expect(await stored()).toMatchObject({
      passes: 1,
      report: { ended: { terminals: { count: 3, ids: ['of one', 'of both', 'of two'] } } },
    });
  });

  test('are all found, however many there are at once', async () => {
    const MANY = 1203;
    await storage.writes.write(async (tx) => {
      for (let i = 0; i < MANY; i += 1)
        await insertRevocation(tx, { teamId, kind: 'agent', subjectId: `agent ${i}`, now: one.clock.now() - (i % 3) });
    });
    await waitUntil('both have ended all tunnels', () => {
      for (const { clock } of [one, two]) clock.advance(SECOND);
      return [one, two].every(({ disconnected }) => new Set(disconnected).size === MANY);
    });
  });

  test('are found within five seconds by the one that was not told', async () => {
    await revoke();
    let seconds = 0;
    await waitUntil('it has ended the tunnel', () => {
      if (seconds < 5 && !has(two)()) two.clock.advance(SECOND);
      seconds += 1;
      return has(two)();
    });
    expect(has(one)()).toBe(false);
  });
});
