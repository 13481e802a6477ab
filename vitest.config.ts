import { defineConfig } from 'vitest/config';
import SlowFirstSequencer from './test/support/slow-first-sequencer.js';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', './test/support/last-words-reporter.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A page on a busy machine needs more than the second that is usual.
    expect: { poll: { timeout: 10_000 } },
    // Some tests race real browsers, servers and clocks. A second attempt keeps one lost race from failing a long run;
    // the reporter names each test that needed it, so that none does so unseen.
    retry: process.env['CI'] ? 1 : 0,
    // Many tests wait for processes, disks and clocks: four workers keep two processors busy.
    maxWorkers: 4,
    // Tests of a file that run side by side wait most of their time.
    maxConcurrency: 10,
    sequence: { sequencer: SlowFirstSequencer },
    // Modules do nothing when they are imported, so that the files of a worker can share them.
    isolate: false,
  },
});
