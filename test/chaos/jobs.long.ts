import { expect, it } from 'vitest';
import { describeEachDatabase } from '../harness/databases.ts';
import { runChaos } from '../harness/jobs/chaos.ts';

/**
 * The long form of test/unit/jobs/chaos.test.ts, on both databases. `CHAOS_SEED` repeats a run, `CHAOS_JOBS` makes it
 * longer or shorter.
 */

const FIRST_SEED = Number(process.env['CHAOS_SEED'] ?? 1000);
const JOBS_PER_SEED = 150;
const JOBS = Number(process.env['CHAOS_JOBS'] ?? 3000);

describeEachDatabase('jobs under faults', (open) => {
  it(
    `are never lost, never run twice and never reported falsely in ${JOBS} jobs`,
    async () => {
      const outcomes: Record<string, number> = {};
      let faults = 0;
      for (let done = 0; done < JOBS; done += JOBS_PER_SEED) {
        const seed = FIRST_SEED + done / JOBS_PER_SEED;
        // Every third run with undo guards.
        const report = await runChaos(await open(), { seed, jobs: JOBS_PER_SEED, guarded: seed % 3 === 0 ? 0.6 : 0 });
        expect(report.violations, `seed ${seed}`).toEqual([]);
        faults += report.faults;
        for (const [outcome, count] of Object.entries(report.outcomes)) outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
      }
      const share = ((100 * (outcomes['unknown'] ?? 0)) / JOBS).toFixed(1);
      process.stdout.write(`${JOBS} jobs, ${faults} faults, ${share} % unknown: ${JSON.stringify(outcomes)}\n`);
    },
    600_000,
  );
});
