import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Chaos, soak and fuzz runs are `*.long.ts`, started by `npm run test:long`.
    exclude: ['**/node_modules/**'],
    pool: 'forks',
    // Left to itself it keeps one core free. Many tests wait for something most of their time.
    maxWorkers: '100%',
    globalSetup: ['./test/harness/postgres-on-demand.ts'],
    // Only what hangs meets these: on a machine whose cores are shared with other programs everything takes several times as long.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    reporters: ['default', './test/harness/summary-reporter.ts'],
  },
});
