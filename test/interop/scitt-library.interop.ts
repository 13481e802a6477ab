import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examineTransparentStatement, readKeyDocument } from '../../src/core/index.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { installPackages, type PythonEnvironment, pythonMinor } from './python.js';

const PACKAGES = ['scitt-cose==0.5.0', 'cbor2==5.9.0'];
const SCRIPT = fileURLToPath(new URL('scitt_library.py', import.meta.url));
const OLDEST_PYTHON = 10;

describe.skipIf(pythonMinor < OLDEST_PYTHON)(`the library ${PACKAGES[0]}, unmodified`, () => {
  let running: TestService;
  let environment: PythonEnvironment;
  let folder: string;
  beforeAll(async () => {
    environment = await installPackages(...PACKAGES);
    running = await startTestService({ PLUGIN_PORT: '0' });
    folder = await mkdtemp(join(tmpdir(), 'archivist-scitt-'));
  });
  afterAll(async () => {
    await running?.close();
    await environment?.remove();
    if (folder) await rm(folder, { recursive: true });
  });

  const read = (name: string) => readFile(join(folder, name));
  const keysIn = async (name: string) => readKeyDocument(await read(name));

  it('registers statements and checks their receipts, and our verifier checks both its and our receipts on them', async () => {
    const { code, out, err } = await environment.run(SCRIPT, running.url, running.owner.token, folder);
    expect([code, out, err]).toEqual([0, 'ES256 ES384 EdDSA\n', '']);
    const published = readKeyDocument((await running.anonymous.get('/.well-known/scitt-keys')).bytes);
    for (const alg of out.trim().split(' ')) {
      const issuerKeys = await keysIn(`${alg}.json`);
      const foreign = await keysIn(`${alg}.log.json`);
      const outcome = async (name: string, logKeys: typeof published) =>
        (await examineTransparentStatement(await read(name), { issuerKeys, logKeys })).outcome;
      expect([alg, await outcome(`${alg}.cose`, published)]).toEqual([alg, 'verified']);
      expect([alg, await outcome(`${alg}.foreign.cose`, foreign)]).toEqual([alg, 'verified']);
      expect([alg, await outcome(`${alg}.foreign.cose`, published)]).toEqual([alg, 'refused']);
      expect([alg, await outcome(`${alg}.cose`, foreign)]).toEqual([alg, 'refused']);
    }
  });
});
