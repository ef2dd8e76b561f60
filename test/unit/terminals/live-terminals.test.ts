import { expect, test } from 'vitest';
import { AppError } from '../../../server/platform/core/errors.ts';
import { newId } from '../../../server/platform/core/ids.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import { OPEN_TERMINALS, TERMINAL_LIMITS } from '../../../server/work/terminals/limits.ts';
import { TerminalsService } from '../../../server/work/terminals/service.ts';
import type { TerminalsDeps } from '../../../server/work/terminals/service.ts';
import { describeEachDatabase } from '../../harness/databases.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { seedRouter } from '../../harness/seed.ts';
import { silentLog } from '../../harness/silent-log.ts';

describeEachDatabase('terminals that were open when the server stopped', (open) => {
  /** A server that starts with these many open terminals of one router. */
  async function restart(count: number) {
    const storage = await open();
    const clock = new ManualClock();
    const { teamId, routerId, agentId } = await seedRouter(storage);
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const id = newId(clock.now());
      ids.push(id);
      await storage.db
        .insertInto('terminals')
        .values({
          id,
          team_id: teamId,
          router_id: routerId,
          agent_id: agentId,
          level: 'read',
          reason: 'x',
          opened_by: `opener ${n}`,
          opened_by_kind: 'api_key',
          opened_via: null,
          signed_in_at: null,
          source: '192.0.2.1',
          created_at: clock.now(),
          opened_at: clock.now(),
          cols: 80,
          rows: 24,
        })
        .execute();
    }
    const entries: object[] = [];
    const db = { isDown: false, failures: 0 };
    const write: Storage['writes']['write'] = (work) => {
      if (!db.isDown) return storage.writes.write(work);
      db.failures += 1;
      return Promise.reject(new AppError('unavailable', 'the database is away'));
    };
    const terminals = new TerminalsService({
      storage: { ...storage, writes: { ...storage.writes, write } },
      clock,
      log: silentLog,
      gateway: { epoch: () => undefined },
      audit: { record: (entry: object) => void entries.push(entry) },
      secrets: { encrypt: async () => 'sealed' },
      keepRecordingsMs: 1,
    } as unknown as TerminalsDeps);
    await terminals.start();
    return { storage, terminals, clock, teamId, agentId, ids, entries, db };
  }

  test('give back only the shares they got, when there are more than a router may have', async () => {
    const { storage, terminals, teamId, agentId } = await restart(OPEN_TERMINALS.perMember + 3);
    try {
      expect(terminals.shares.taken).toBe(OPEN_TERMINALS.perMember);
      await terminals.dropAgent(teamId, agentId);
      expect(terminals.shares.taken).toBe(0);
      const open = await storage.db.selectFrom('terminals').select('id').where('ended_at', 'is', null).execute();
      expect(open).toEqual([]);
    } finally {
      await terminals.stop();
    }
  });

  test('the audit log says who ended one, and from where', async () => {
    const { terminals, teamId, ids, entries } = await restart(1);
    try {
      const ada = { kind: 'user', id: 'ada', teamId, source: '198.51.100.7' } as const;
      await terminals.close({ ...ada, role: 'admin' }, ids[0]!);
      expect(entries).toEqual([
        expect.objectContaining({ action: 'terminal ended', actor_kind: 'user', actor_id: 'ada', source: '198.51.100.7' }),
      ]);
    } finally {
      await terminals.stop();
    }
  });

  test('an end that could not be stored is tried again at the stop, and not after it', async () => {
    const { storage, terminals, clock, teamId, agentId, db } = await restart(1);
    db.isDown = true;
    await terminals.dropAgent(teamId, agentId);
    const atEnd = db.failures;
    await terminals.stop();
    const atStop = db.failures;
    expect(atStop).toBeGreaterThan(atEnd);
    clock.advance(TERMINAL_LIMITS.retryMs);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(db.failures).toBe(atStop);
    expect(await storage.db.selectFrom('terminals').select('end_reason').execute()).toEqual([{ end_reason: null }]);
  });

  test('an end that waits for another attempt is stored by the stop', async () => {
    const { storage, terminals, teamId, agentId, db } = await restart(1);
    db.isDown = true;
    await terminals.dropAgent(teamId, agentId);
    db.isDown = false;
    await terminals.stop();
    expect(await storage.db.selectFrom('terminals').select('end_reason').execute()).toEqual([{ end_reason: 'agent_revoked' }]);
  });
});
