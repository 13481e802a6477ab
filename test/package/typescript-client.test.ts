import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../api/test-service.js';
import { type EmptyFolder, emptyFolder, REPOSITORY } from './empty-folder.js';

const EXAMPLE = 'examples/typescript-client';

describe('a client whose types are generated from /openapi.json', () => {
  let running: TestService;
  let folder: EmptyFolder;
  beforeAll(async () => {
    running = await startTestService();
    folder = await emptyFolder();
    for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'get-started.ts'])
      await cp(join(REPOSITORY, EXAMPLE, name), join(folder.path, name));
    await folder.run('npm', ['ci', '--no-audit', '--no-fund']);
  }, 300_000);
  afterAll(async () => {
    await running?.close();
    await folder?.remove();
  });

  it('compiles strictly, and goes from a token to evidence', async () => {
    const environment = {
      ARCHIVIST_URL: running.url,
      ARCHIVIST_CLIENT_ID: running.owner.clientId,
      ARCHIVIST_CLIENT_SECRET: running.ownerSecret,
    };
    await cp(join(REPOSITORY, 'fixtures/vcon/call.vcon.json'), join(folder.path, 'call.vcon.json'));
    await folder.run('npm', ['run', 'generate'], environment);
    await folder.run('npm', ['run', 'build']);
    const said = await folder.run('npm', ['start', '--silent'], environment);
    expect(said).toMatch(/evidence in evidence\.zip; the asset has 2 confirmed events/);
    const zip = await readFile(join(folder.path, 'evidence.zip'));
    expect(zip.subarray(0, 2).toString()).toBe('PK');
  }, 300_000);
});
