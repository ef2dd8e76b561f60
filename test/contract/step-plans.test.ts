import { expect, test } from 'vitest';
import { deleteHours, joinToHours, selectLinkSteps } from '../../server/fleet/links/store.ts';
import type { DbOrTx, Tx } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';
import { seedRouter } from '../harness/seed.ts';

/** Measurements are the largest tables: each reading and each sweep goes to the rows of its agent and time. */
describeEachDatabase('the plans of measurements', (open) => {
  const HOUR = 3_600_000;

  test('of link quality', async () => {
    const storage = await open();
    const { teamId, agentId } = await seedRouter(storage);
    const rows = Array.from({ length: 400 }, (_, step) => ({ agent_id: agentId, span_s: 900, at: step * 900_000, part: 1 }));
    await storage.db
      .insertInto('agent_link_steps')
      .values(rows.map((row) => ({ ...row, answered: 1, lost: 0, least_us: 1, most_us: 1, counts: '1:1' })))
      .execute();
    await learnSizes(storage);
    const queries: ((db: DbOrTx) => Promise<unknown>)[] = [
      (db) => selectLinkSteps(db, { teamId, agentId }, { from: HOUR, to: 2 * HOUR }),
      (db) => joinToHours(db as Tx, [agentId], HOUR, 1),
      (db) => deleteHours(db as Tx, [agentId], HOUR),
    ];
    for (const query of queries) {
      for (const plan of await plansOf(storage, query)) {
        const reads = plan.reads.filter(({ table }) => table === 'agent_link_steps');
        expect(reads.length, plan.text).toBe(plan.statement.startsWith('insert') ? 0 : 1);
        for (const { condition } of reads) expect(condition, plan.text).toMatch(/agent_id.*at/);
      }
    }
  });
});
