import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readCredentials } from '../../src/service/first-credentials.js';
import { sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { killBuilt, startBuilt } from '../support/built-program.js';
import { freePort } from '../support/free-port.js';

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

it('keeps an earlier name for the evidence that has it: nobody else registers a statement under it', async () => {
  const port = String(await freePort());
  const program = startBuilt('main', {
    ...{ PUBLIC_URL: 'https://other.example', DATA_DIR: folder },
    ...{ PORT: port, PLUGIN_PORT: '0' },
  });
  await program.says(/Stop with/);
  const url = `http://127.0.0.1:${port}`;
  const { client_id, client_secret } = (await readCredentials(folder))!;
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
  const token = await fetch(`${url}/archivist/iam/v1/appidp/token`, { method: 'POST', body: form });
  const { access_token } = (await token.json()) as { access_token: string };
  const register = (host: string) =>
    fetch(`${url}/entries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/cose' },
      body: sampleStatement(sampleIssuer(), {
        issuer: `did:web:${host}:archivist:v1:didweb:0192e8f5-0000-7000-8000-000000000001`,
      }),
    });
  expect((await register('third.example')).status).toBe(201);
  for (const host of ['archivist.example', 'other.example'])
    expect([host, (await register(host)).status]).toEqual([host, 400]);
  program.signal('SIGTERM');
  await program.ended;
}, 120_000);
