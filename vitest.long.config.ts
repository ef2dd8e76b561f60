import { defineConfig, mergeConfig } from 'vitest/config';
import config, { ofEveryProject } from './vitest.config.ts';

/** `npm run test:long`: chaos, soak and fuzz. Each run is bounded and seeded; its own file says by what. */
export default mergeConfig(
  { ...config, test: { ...config.test, projects: undefined } },
  defineConfig({
    test: {
      ...ofEveryProject,
      include: ['test/**/*.long.ts'],
      // Each of them keeps both processors busy by itself.
      fileParallelism: false,
      testTimeout: 3_600_000,
    },
  }),
);
