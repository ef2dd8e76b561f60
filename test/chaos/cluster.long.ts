import process from 'node:process';
import { expect, test } from 'vitest';
import { describeRun } from '../harness/chaos/report.ts';
import { runProcessChaos } from '../harness/chaos/run-chaos.ts';
import { hasNats } from '../harness/nats-server.ts';
import { findPostgres, postgresUrl, startPostgres } from '../harness/postgres-server.ts';

/**
 * Three control planes, agents and routers as processes of their own. Control planes are killed, frozen for 5 to 90 s and cut off from the
 * database or the bus; PostgreSQL and nats-server restart; agents, their lines and their routers break as in `processes.long.ts`.
 * `CHAOS_SEED` chooses other faults, `CHAOS_CLUSTER_JOBS` and `CHAOS_CLUSTER_SECONDS` say when the faults end, whichever comes first:
 * 120 seconds are a short run.
 */

const SEED = Number(process.env['CHAOS_SEED'] ?? 7);
const JOBS = Number(process.env['CHAOS_CLUSTER_JOBS'] ?? 6000);
const SECONDS = Number(process.env['CHAOS_CLUSTER_SECONDS'] ?? 2400);
/** Some of these faults last over a minute. When they came as often as those of one control plane, nearly everything was away all the time. */
const PAUSE_MS = { least: 1000, most: 6000 };
/** Beyond this number, a small share of completed ones is no chance any more. */
const ENOUGH = 100;

const bin = findPostgres();

test.skipIf(bin === undefined || !hasNats())(
  'three control planes under faults lose no job, run none twice and say nothing false',
  async () => {
    const postgres = await startPostgres(bin!);
    const database = { url: postgresUrl(postgres.socketFolder, 'postgres'), postgres, remove: () => postgres.stop() };
    // Clocks of nodes that differ are refused at the start.
    const world = { nodes: 3, database, faults: ['postgres', 'ssh'] as const, pauseMs: PAUSE_MS };
    const run = await runProcessChaos({ seed: SEED, jobs: JOBS, limitMs: SECONDS * 1000, ...world });
    const { outcomes, violations, unaskedEnds } = run;
    const told = { ...run.faults, 'message repeated': run.repeatedMessages };
    process.stdout.write(describeRun(`three control planes, seed ${SEED}`, { sums: run, outcomes, faults: told }));
    process.stdout.write(`  answers ${JSON.stringify(run.statuses)}; programs ended by themselves: ${unaskedEnds.length}\n`);
    for (const violation of violations) process.stdout.write(`  VIOLATION ${violation}\n`);
    for (const end of unaskedEnds) process.stdout.write(`  ended by itself: ${end}\n`);
    expect(violations).toEqual([]);
    expect(unaskedEnds).toEqual([]);
    expect(run.acknowledged).toBeGreaterThan(0);
    if (run.acknowledged > ENOUGH) expect(outcomes['completed']).toBeGreaterThan(run.acknowledged / 3);
  },
);
