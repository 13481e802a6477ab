import { expect, it } from 'vitest';
import { inventoryLines } from '../../src/cli/plugin/queue-text.js';

it.each([
  [119, '119 s'],
  [120, '2 min'],
  [7_199, '120 min'],
  [7_200, '2 h'],
  [172_799, '48 h'],
  [172_800, '2 days'],
])('an operation that has waited for %i seconds is shown to wait for %s', (oldestSeconds, text) => {
  const lines = inventoryLines({
    engine: 'Redis',
    depth: 1,
    oldestSeconds,
    deadLetters: 0,
    letters: [],
    operations: {},
    spool: { folder: '', depth: 0, oldestSeconds: 0 },
    setAside: [],
    setAsideCount: 0,
    notLookedAt: [],
    fullDisks: [],
  });
  expect(lines).toContain(`waiting for delivery  1, the oldest for ${text}`);
});
