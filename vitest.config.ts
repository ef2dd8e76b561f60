import os from 'node:os';
import { defineConfig } from 'vitest/config';

export const ofEveryProject = {
  // Chaos, soak and fuzz runs are `*.long.ts`, started by `npm run test:long`.
  exclude: ['**/node_modules/**'] as string[],
  pool: 'forks' as const,
  // Only what hangs meets these: on a machine whose cores are shared with other programs everything takes several times as long.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // As test/harness/wait-until.ts; the default is one second.
  expect: { poll: { timeout: 120_000 } },
};

export default defineConfig({
  test: {
    // Tests wait for more than half of their time: a program starts, a deadline passes, a router answers. A percentage above 100 is cut.
    maxWorkers: Math.ceil(1.5 * os.availableParallelism()),
    globalSetup: ['./test/harness/global-setup.ts'],
    reporters: ['default', './test/harness/summary-reporter.ts'],
    projects: [
      // Many small files of pure logic: to start a process and read the modules for each cost two fifths of their time.
      {
        test: {
          ...ofEveryProject,
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          isolate: false,
          setupFiles: ['./test/harness/shared-worker.ts'],
        },
      },
      { test: { ...ofEveryProject, name: 'whole', include: ['test/{attack,contract,e2e}/**/*.test.ts'] } },
    ],
  },
});
