import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ServerRuns } from '../../server/fleet/sessions/runs.ts';
import { SharedLook } from '../../server/platform/nodes/shared-look.ts';
import { insertNode, raiseBeatAmong } from '../../server/platform/nodes/store.ts';
import { hasChanged } from '../../server/platform/storage/changed-since.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { postgres } from '../harness/cluster/cluster-world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedAgent, seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

const START = 1_700_000_000_000;

/** Needs what only PostgreSQL says of its rows. */
describe.skipIf(!postgres)('what one of several control planes sends while nothing happens', () => {
  let storage: Storage;
  let clock: ManualClock;
  let closers: (() => Promise<void>)[];

  beforeEach(async () => {
    closers = [];
    const { url, remove } = await postgres!.createMigrated();
    storage = await openStorage(url, { log: silentLog });
    closers.push(async () => {
      await storage.close();
      await remove();
    });
    clock = new ManualClock(START);
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  function start(): SharedLook {
    const look = new SharedLook({ storage, clock, log: silentLog });
    closers.push(() => look.stop());
    look.start();
    return look;
  }

  /** The answers to a question about a table. */
  function ask(look: SharedLook, table: string): boolean[] {
    const answers: boolean[] = [];
    const onAnswer = async (hasChanges: boolean): Promise<void> => void answers.push(hasChanges);
    const end = look.ask({ asks: hasChanged(table), onAnswer, failure: 'a test failed' });
    closers.push(end);
    return answers;
  }

  /** Lets looks follow until one has been answered after now. */
  async function next(answers: readonly boolean[]): Promise<boolean> {
    const before = answers.length;
    await waitUntil('the next look is answered', () => {
      if (answers.length > before) return true;
      clock.advance(5000);
      return false;
    });
    return answers[before]!;
  }

  /** A transaction that is open anywhere on the server, such as one of another test, has changes told again until it is over. */
  const toldNoMore = (answers: readonly boolean[]): Promise<unknown> =>
    waitUntil('the change is told no more', async () => !(await next(answers)));

  test('the look tells who has asked about a table that it has changed, once', async () => {
    const { teamId } = await seedTeam(storage);
    await seedAgent(storage, teamId);
    const look = start();
    const [agents, routers] = [ask(look, 'agents'), ask(look, 'routers')];
    expect(await next(agents)).toBe(true);
    await toldNoMore(agents);
    const [seenOfAgents, seenOfRouters] = [agents.length, routers.length];
    await seedAgent(storage, teamId);
    await waitUntil('it is told', () => next(agents));
    await toldNoMore(agents);
    expect(agents.slice(seenOfAgents)).toContain(true);
    expect(routers.slice(seenOfRouters)).not.toContain(true);
  });

  test('a question that is still being worked on does not hold up the others, and its changes are not lost', async () => {
    const { teamId } = await seedTeam(storage);
    await seedAgent(storage, teamId);
    const look = start();
    const answers: boolean[] = [];
    const work = Promise.withResolvers<void>();
    const end = look.ask({
      asks: hasChanged('agents'),
      onAnswer: (hasChanges) => {
        answers.push(hasChanges);
        return answers.length === 1 ? work.promise : Promise.resolve();
      },
      failure: 'a test failed',
    });
    closers.push(end);
    const others = ask(look, 'agents');
    await waitUntil('it works', async () => (await next(others)) || answers.length === 1);
    await seedAgent(storage, teamId);
    await waitUntil('the other has been told', () => next(others));
    expect(answers).toHaveLength(1);
    work.resolve();
    await waitUntil('it is told too', async () => {
      await next(others);
      return answers.length > 1;
    });
    expect(answers[1]).toBe(true);
  });

  test('a beat says until when the control plane has run, and not after its stop or when it does not count', async () => {
    const node = { name: 'one', version: '1', process: null, beat: 0, public_url: 'http://127.0.0.1', started_at: START };
    await storage.writes.write((tx) => insertNode(tx, { ...node, id: 'one', program_schema: null, keys: null }));
    const runs = new ServerRuns({ storage, clock, log: silentLog, nodeId: 'one' });
    const beat = (id = 'one') => raiseBeatAmong(storage.db, id, { tunnels: 0, clients: 0, onBus: true, run: runs.alive() });
    const stored = async () => (await storage.db.selectFrom('server_runs').select('alive_at').execute()).map((run) => run.alive_at);
    expect(await beat()).toHaveLength(1);
    await runs.start();
    clock.advance(60_000);
    expect(await stored()).toEqual([START]);
    expect(await beat()).toHaveLength(1);
    expect(await stored()).toEqual([START + 60_000]);
    clock.advance(1000);
    expect(await beat('another')).toBeUndefined();
    expect(await stored()).toEqual([START + 60_000]);
    await runs.stop();
    clock.advance(1000);
    await beat();
    expect(await stored()).toEqual([START + 61_000]);
  });
});
