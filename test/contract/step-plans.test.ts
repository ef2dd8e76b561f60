import { expect, test } from 'vitest';
import * as health from '../../server/fleet/health/store.ts';
import { HealthSums } from '../../server/fleet/health/readings.ts';
import * as links from '../../server/fleet/links/store.ts';
import type { DbOrTx, Storage, Tx } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';
import { seedRouter } from '../harness/seed.ts';

const HOUR = 3_600_000;
const RANGE = { from: HOUR, to: 3 * HOUR, stepMs: HOUR };

type Query = (db: DbOrTx) => Promise<unknown>;

/** Each reading of the table goes to the rows of its subject and time. */
async function expectDirect(storage: Storage, table: string, subject: string, queries: readonly Query[]): Promise<void> {
  await learnSizes(storage);
  for (const query of queries) {
    const reads = (await plansOf(storage, query)).flatMap((plan) => plan.reads.map((read) => ({ ...read, text: plan.text })));
    const own = reads.filter((read) => read.table === table);
    expect(own.length).toBeGreaterThan(0);
    for (const { condition, text } of own) expect(condition, text).toMatch(new RegExp(`${subject}.*\\bat\\b`));
  }
}

/** Measurements are the largest tables. */
describeEachDatabase('the plans of measurements', (open) => {
  const steps = Array.from({ length: 400 }, (_, step) => ({ span_s: 900, at: step * 900_000, part: 1 }));

  test('of link quality', async () => {
    const storage = await open();
    const { teamId, agentId } = await seedRouter(storage);
    const row = { agent_id: agentId, answered: 1, lost: 0, least_us: 1, most_us: 1, counts: '1:1' };
    await storage.writes.write((tx) =>
      links.upsertLinkSteps(
        tx,
        steps.map((step) => ({ ...step, ...row })),
      ),
    );
    await expectDirect(storage, 'agent_link_steps', 'agent_id', [
      (db) => links.selectLinkSteps(db, { teamId, agentId }, RANGE),
      (db) => links.joinToHours(db as Tx, [agentId], HOUR, 1),
      (db) => links.deleteHours(db as Tx, [agentId], HOUR),
    ]);
  });

  test('of health', async () => {
    const storage = await open();
    const { teamId, routerId } = await seedRouter(storage);
    const row = { router_id: routerId, ...new HealthSums().columns };
    await storage.writes.write((tx) =>
      health.upsertHealthSteps(
        tx,
        steps.map((step) => ({ ...step, ...row })),
      ),
    );
    await expectDirect(storage, 'router_health_steps', 'router_id', [
      (db) => health.selectHealthSteps(db, { teamId, routerId }, RANGE),
      (db) => health.joinToHours(db as Tx, [routerId], HOUR, 1),
      (db) => health.deleteHours(db as Tx, [routerId], HOUR),
    ]);
  });
});
