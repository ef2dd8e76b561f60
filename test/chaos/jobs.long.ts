import { expect, it } from 'vitest';
import { describeEachDatabase } from '../harness/databases.ts';
import { describeRun } from '../harness/chaos/report.ts';
import { runChaos } from '../harness/jobs/chaos.ts';

/**
 * The long form of test/unit/jobs/chaos.test.ts, on both databases. `CHAOS_SEED` repeats a run, `CHAOS_JOBS` makes it
 * longer or shorter.
 */

const FIRST_SEED = Number(process.env['CHAOS_SEED'] ?? 1000);
const JOBS_PER_SEED = 150;
const JOBS = Number(process.env['CHAOS_JOBS'] ?? 3000);

describeEachDatabase('jobs under faults', (open, kind) => {
  it(`are never lost, never run twice and never reported falsely in ${JOBS} jobs`, async () => {
    const outcomes: Record<string, number> = {};
    const faults: Record<string, number> = {};
    const sums = { acknowledged: 0, lost: 0, twice: 0, false: 0 };
    for (let done = 0; done < JOBS; done += JOBS_PER_SEED) {
      const seed = FIRST_SEED + done / JOBS_PER_SEED;
      // Every third run with undo guards.
      const report = await runChaos(await open(), { seed, jobs: JOBS_PER_SEED, guarded: seed % 3 === 0 ? 0.6 : 0 });
      expect(report.violations, `seed ${seed}`).toEqual([]);
      add(faults, report.faults);
      add(outcomes, report.outcomes);
      add(sums, { acknowledged: report.acknowledged, lost: report.lost, twice: report.twice, false: report.false });
    }
    process.stdout.write(describeRun(`${kind.name}, in one process`, { sums, outcomes, faults }));
  }, 600_000);
});

function add(sums: Record<string, number>, more: Record<string, number>): void {
  for (const [name, count] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + count;
}
