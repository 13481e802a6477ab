import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { killBuilt, startBuilt } from '../support/built-program.js';

const folder = await mkdtemp(join(tmpdir(), 'changed-name-'));
afterAll(async () => {
  killBuilt();
  await rm(folder, { recursive: true, force: true });
});

/** The lines of a start. */
async function startLines(PUBLIC_URL: string): Promise<string> {
  const program = startBuilt('main', { PUBLIC_URL, PORT: '0', PLUGIN_PORT: '0', DATA_DIR: folder });
  await program.says(/Stop with/);
  program.signal('SIGTERM');
  expect(await program.ended).toBe(0);
  return program.written.out;
}

it('warns at a start under another PUBLIC_URL than that of the evidence so far', async () => {
  expect(await startLines('https://archivist.example')).not.toContain('Warning');
  const warning =
    /^Warning: .* name did:web:other\.example:archivist:v1:didweb; .* names did:web:archivist\.example:archivist:v1:didweb\./m;
  expect(await startLines('https://other.example')).toMatch(warning);
  expect(await startLines('https://archivist.example')).not.toContain('Warning');
}, 120_000);
