import { defineConfig } from 'vitest/config';

/** Other people's programs against the service: `npm run test:interop`. Their packages come from the configured index. */
export default defineConfig({
  test: {
    include: ['test/interop/**/*.interop.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 300_000,
    hookTimeout: 600_000,
    maxWorkers: 1,
  },
});
