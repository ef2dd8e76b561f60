import os from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Chaos, soak and fuzz runs are `*.long.ts`, started by `npm run test:long`.
    exclude: ['**/node_modules/**'],
    pool: 'forks',
    // Tests wait for more than half of their time: a program starts, a deadline passes, a router answers. A percentage above 100 is cut.
    maxWorkers: Math.ceil(1.5 * os.availableParallelism()),
    globalSetup: ['./test/harness/postgres-on-demand.ts'],
    // Only what hangs meets these: on a machine whose cores are shared with other programs everything takes several times as long.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // As test/harness/wait-until.ts; the default is one second.
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', './test/harness/summary-reporter.ts'],
  },
});
