import files, { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startSpoolDrain } from '../../plugins/capture/spool-drain.js';
import { spoolState } from '../../plugins/capture/spool-folder.js';
import { silent } from './plugin-rig.js';

it('keeps a captured operation in its place while no file can be opened, and delivers it afterwards', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'spool-'));
  for (const sequence of ['1', '2']) {
    const observed = { atMs: 1, sequence };
    const ended = { operation: { name: 'vcon_sent' }, vcon: { payload: 'a'.repeat(64) }, method: 'link', observed };
    await writeFile(join(folder, `${sequence}-job.operation`), JSON.stringify(ended));
  }
  const captured: string[] = [];
  const drain = startSpoolDrain(
    folder,
    async ({ observed }) => {
      captured.push(observed.sequence);
      return { job: 'job', subject: 's', payload: 'p' };
    },
    silent,
  );
  const opening = vi.spyOn(files, 'readFile');
  onTestFinished(async () => {
    opening.mockRestore();
    syncBuiltinESMExports();
    await drain.close();
    await rm(folder, { recursive: true });
  });
  opening.mockRejectedValue(Object.assign(new Error('too many open files'), { code: 'EMFILE' }));
  syncBuiltinESMExports();
  await expect(drain.drained()).rejects.toThrow('too many open files');
  expect(await spoolState(folder, 2)).toMatchObject({ depth: 2, setAside: [] });
  opening.mockRestore();
  syncBuiltinESMExports();
  await drain.drained();
  expect(captured).toEqual(['1', '2']);
});
