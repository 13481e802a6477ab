import { defineConfig } from 'vitest/config';

/** A long run under load with kills and faults: `npm run soak -- --hours 1`. */
export default defineConfig({
  test: {
    include: ['test/soak/**/*.soak.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 0,
    hookTimeout: 600_000,
    maxWorkers: 1,
  },
});
