import process from 'node:process';
import { expect, test } from 'vitest';
import { OPTIONAL_FAULTS } from '../harness/chaos/breaker.ts';
import type { ChaosDatabase } from '../harness/chaos/chaos-world.ts';
import { describeRun } from '../harness/chaos/report.ts';
import { runProcessChaos } from '../harness/chaos/run-chaos.ts';
import type { ProcessChaosOptions } from '../harness/chaos/run-chaos.ts';
import { databaseKinds } from '../harness/databases.ts';
import { findPostgres, postgresUrl, startPostgres } from '../harness/postgres-server.ts';

/**
 * Control plane, agents and routers as processes of their own, under every fault there is. `CHAOS_SEED` chooses other
 * faults, `CHAOS_PROCESS_JOBS` makes it longer or shorter, `CHAOS_FAULTS` says which optional faults there are
 * (`postgres,clock,ssh`: all of them unless it is set).
 *
 * A job that expires because a clock was set ahead has never run, and that is what `expired` says: no false result. One
 * that expired and ran is.
 */

const SEED = Number(process.env['CHAOS_SEED'] ?? 7);
const JOBS = Number(process.env['CHAOS_PROCESS_JOBS'] ?? 1000);
const CHOSEN = process.env['CHAOS_FAULTS']?.split(',') ?? OPTIONAL_FAULTS;
const faults = OPTIONAL_FAULTS.filter((fault) => CHOSEN.includes(fault));
/** Fewer jobs than wanted on a slow machine are as good. */
const LIMIT_MS = 600_000;

const bin = findPostgres();

/** A server of its own, to be restarted. */
async function ownPostgres(): Promise<ChaosDatabase> {
  const postgres = await startPostgres(bin!);
  return { url: postgresUrl(postgres.socketFolder, 'postgres'), postgres, remove: () => postgres.stop() };
}

// SQLite lies on a disk of its own there, which fills up.
const kinds: { name: string; create: () => Promise<ChaosDatabase | undefined> }[] = databaseKinds().map(({ name, create }) => {
  if (name === 'SQLite') return { name, create: () => Promise.resolve(undefined) };
  return { name, create: bin === undefined ? create : ownPostgres };
});

test.each(kinds)(
  'processes under faults lose no job, run none twice, say nothing false and do not end, on $name',
  async ({ name, create }) => {
    const run = await runProcessChaos({ seed: SEED, jobs: JOBS, limitMs: LIMIT_MS, database: await create(), faults });
    const { outcomes, violations, unaskedEnds } = run;
    const told = { ...run.faults, 'message repeated': run.repeatedMessages };
    process.stdout.write(describeRun(`${name}, real processes, seed ${SEED}`, { sums: run, outcomes, faults: told }));
    process.stdout.write(`  answers ${JSON.stringify(run.statuses)}; programs ended by themselves: ${unaskedEnds.length}\n`);
    for (const violation of violations) process.stdout.write(`  VIOLATION ${violation}\n`);
    for (const end of unaskedEnds) process.stdout.write(`  ended by itself: ${end}\n`);
    expect(violations).toEqual([]);
    expect(unaskedEnds).toEqual([]);
    expect(run.acknowledged).toBeGreaterThan(JOBS / 4);
    expect(outcomes['completed']).toBeGreaterThan(run.acknowledged / 3);
  },
);

test.skipIf(bin === undefined)('a control plane that does not hear the errors of its database connections is found out', async () => {
  const serverProgram = 'test/harness/chaos/programs/deaf-server.ts';
  const options: ProcessChaosOptions = {
    seed: SEED,
    jobs: 10_000,
    limitMs: 60_000,
    database: await ownPostgres(),
    faults: ['postgres'],
    serverProgram,
  };
  const { unaskedEnds } = await runProcessChaos(options);
  expect(unaskedEnds).toContainEqual(expect.stringMatching(/^server: /));
});
