import { expect, test } from 'vitest';
import { AGENT_SOURCES } from '../../server/fleet/history/store.ts';
import type { TunnelRecord } from '../../server/platform/core/tunnel-record.ts';
import { ServerRuns } from '../../server/fleet/sessions/runs.ts';
import { SessionsService } from '../../server/fleet/sessions/service.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedAgent, seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const START = 1_700_000_000_000;
const HOUR = 3_600_000;

describeEachDatabase('runs and sessions of several control planes', (open) => {
  async function setUp() {
    const storage = await open();
    const { teamId } = await seedTeam(storage);
    const agentId = await seedAgent(storage, teamId);
    const clock = new ManualClock(START);
    const deps = { storage, clock, log: silentLog, keepMs: 400 * 24 * HOUR };
    const begin = async (nodeId: string) => {
      const row = { id: nodeId, name: nodeId, version: '1', process: null, public_url: 'https://node.example', beat: 0, started_at: START };
      await storage.db.insertInto('nodes').values(row).execute();
      const runs = new ServerRuns({ ...deps, nodeId });
      const sessions = new SessionsService({ ...deps, nodeId });
      await runs.start();
      return { runs, sessions };
    };
    const die = (nodeId: string) => storage.db.deleteFrom('nodes').where('id', '=', nodeId).execute();
    const list = () => storage.db.selectFrom('agent_sessions').select(['node_id', 'closed_at', 'ended_by']).orderBy('id').execute();
    const tunnel = (): TunnelRecord => ({
      agentId,
      teamId,
      address: '198.51.100.7',
      openedAt: clock.now(),
      epoch: null,
      agentVersion: null,
      reset: false,
      readyAt: null,
      bytesIn: 0,
      bytesOut: 0,
      end: undefined,
    });
    /** What its beat says of its run. */
    const live = ({ runs }: { runs: ServerRuns }) => {
      const { id, alive_at } = runs.alive()!;
      return storage.db.updateTable('server_runs').set({ alive_at }).where('id', '=', id).execute();
    };
    return { storage, teamId, agentId, clock, begin, live, die, list, tunnel };
  }

  test('one that starts leaves the sessions of others open; those of the dead end when these were last alive', async () => {
    const { begin, live, die, list, clock, tunnel } = await setUp();
    const one = await begin('one');
    one.sessions.onOpened(tunnel());
    await one.sessions.stored();
    clock.advance(60_000);
    await live(one);
    const two = await begin('two');
    two.sessions.onOpened(tunnel());
    await two.sessions.stored();
    expect(await list()).toMatchObject([
      { node_id: 'one', closed_at: null },
      { node_id: 'two', closed_at: null },
    ]);
    await two.runs.settle();
    expect((await list()).map((row) => row.closed_at)).toEqual([null, null]);
    await die('one');
    const lastAlive = clock.now();
    clock.advance(10_000);
    await two.runs.settle();
    await two.runs.settle();
    const [lost, kept] = await list();
    expect(lost).toMatchObject({ ended_by: 'unknown' });
    expect(Math.abs(lost!.closed_at! - lastAlive)).toBeLessThanOrEqual(2000);
    expect(kept).toMatchObject({ closed_at: null });
    await one.runs.stop();
    await two.runs.stop();
  });

  test('the sessions from before there were several end with the run that served alone', async () => {
    const { begin, list, clock, storage, tunnel } = await setUp();
    const deps = { storage, clock, log: silentLog, keepMs: HOUR };
    const [runs, sessions] = [new ServerRuns(deps), new SessionsService(deps)];
    await runs.start();
    sessions.onOpened(tunnel());
    await sessions.stored();
    clock.advance(HOUR);
    await runs.stop();
    const stoppedAt = clock.now();
    clock.advance(HOUR);
    const { runs: next } = await begin('one');
    expect(next.former).toEqual({ endedAt: stoppedAt, endedBy: 'server_stopped' });
    expect(await list()).toMatchObject([{ closed_at: stoppedAt }]);
    await next.stop();
  });

  test('only the time in which none ran is unknown', async () => {
    const { storage, teamId, agentId } = await setUp();
    const at = (hours: number) => START + hours * HOUR;
    const run = (id: string, from: number, to: number) => ({ id, started_at: at(from), alive_at: at(to), stopped_at: at(to), node_id: id });
    // The first outlives the second; between the end of the first and the begin of the third none ran.
    const runs = [run('a', 0, 10), run('b', 1, 4), run('c', 12, 20), run('d', 15, 16), run('e', 20, 21)];
    await storage.db.insertInto('server_runs').values(runs).execute();
    const page = { limit: 10, before: undefined };
    const items = await AGENT_SOURCES.unknown(storage.db, {
      teamId,
      agentId,
      createdAt: START,
      removedAt: null,
      page,
      from: undefined,
      to: undefined,
    });
    expect(items).toMatchObject([{ at: at(10), until: at(12) }]);
  });
});
