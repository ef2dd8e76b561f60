import process from 'node:process';
import { expect, test } from 'vitest';
import { databaseKinds } from '../harness/databases.ts';
import { describeRun } from '../harness/chaos/report.ts';
import { runProcessChaos } from '../harness/chaos/run-chaos.ts';

/**
 * Control plane, agents and routers as processes of their own, under every fault there is. `CHAOS_SEED` chooses other
 * faults, `CHAOS_PROCESS_JOBS` makes it longer or shorter.
 */

const SEED = Number(process.env['CHAOS_SEED'] ?? 7);
const JOBS = Number(process.env['CHAOS_PROCESS_JOBS'] ?? 1000);
/** Fewer jobs than wanted on a slow machine are as good. */
const LIMIT_MS = 600_000;

// SQLite lies on a disk of its own there, which fills up.
const kinds = databaseKinds().map(({ name, create }) => ({ name, create: name === 'SQLite' ? () => undefined : create }));

test.each(kinds)('processes under faults lose no job, run none twice and say nothing false, on $name', async ({ name, create }) => {
  const run = await runProcessChaos({ seed: SEED, jobs: JOBS, limitMs: LIMIT_MS, database: await create() });
  const { outcomes, faults, violations, crashes } = run;
  process.stdout.write(describeRun(`${name}, real processes`, { sums: run, outcomes, faults: { ...faults, 'message repeated': run.repeatedMessages } }));
  process.stdout.write(`  answers ${JSON.stringify(run.statuses)}\n`);
  for (const violation of violations) process.stdout.write(`  VIOLATION ${violation}\n`);
  for (const crash of crashes) process.stdout.write(`  ended by itself: ${crash}\n`);
  expect(violations).toEqual([]);
  expect(run.acknowledged).toBeGreaterThan(JOBS / 4);
  expect(outcomes['completed']).toBeGreaterThan(run.acknowledged / 3);
});
