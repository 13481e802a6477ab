import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { watchedLogs } from '../../src/cli/monitor/watched-logs.js';

it('a monitor that cannot read which logs it has seen does not go on without them', async () => {
  const state = await mkdtemp(join(tmpdir(), 'monitor-unreadable-'));
  try {
    // Nothing listens there, so it follows what it has seen.
    const service = { url: 'http://127.0.0.1:9', state };
    const unlisted = await watchedLogs(service, { notes: [], seals: [] });
    expect(unlisted.map(({ name }) => name)).toEqual(['the list of tenancy logs']);
    // The system refuses to follow it.
    await symlink(join(state, 'tenant'), join(state, 'tenant'));
    await expect(watchedLogs(service, { notes: [], seals: [] })).rejects.toThrow(
      `${join(state, 'tenant')} cannot be read: `,
    );
  } finally {
    await rm(state, { recursive: true });
  }
});
