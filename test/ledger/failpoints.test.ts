import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { killingFailpoints, noFailpoints } from '../../src/ledger/failpoints.js';

/** Whether a promise is still open after the microtasks that could settle it. */
async function isOpen(promise: Promise<void>): Promise<boolean> {
  return Promise.race([promise.then(() => false), new Promise<boolean>((resolve) => setTimeout(resolve, 5, true))]);
}

describe('failpoints', () => {
  it('do nothing when none is set', async () => {
    expect(killingFailpoints(undefined, () => {})).toBe(noFailpoints);
    await noFailpoints.reach('commit.before');
  });

  it('kill at the n-th time of the named place only, and never go on after it', async () => {
    let kills = 0;
    const failpoints = killingFailpoints('commit.inside:2', () => {
      kills += 1;
    });
    await failpoints.reach('commit.before');
    await failpoints.reach('commit.inside');
    expect(kills).toBe(0);
    expect(await isOpen(failpoints.reach('commit.inside'))).toBe(true);
    expect(kills).toBe(1);
  });

  it('kill a running process at the place that a file names, from when the file is there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'failpoints-'));
    try {
      const file = join(folder, 'armed');
      let kills = 0;
      const failpoints = killingFailpoints(`file:${file}`, () => {
        kills += 1;
      });
      await failpoints.reach('commit.inside');
      await writeFile(file, 'commit.inside');
      await failpoints.reach('commit.before');
      expect(kills).toBe(0);
      expect(await isOpen(failpoints.reach('commit.inside'))).toBe(true);
      expect(kills).toBe(1);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it.each(['commit before', 'commit.before:0', ':1', 'commit.before:x'])('refuse the setting %j', (setting) => {
    expect(() => killingFailpoints(setting, () => {})).toThrow(TypeError);
  });
});
