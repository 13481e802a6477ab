import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatheredEvidence, gatherEvidence } from './gather-evidence.js';
import { installPackages, type PythonEnvironment, python } from './python.js';

const VERIFIER = fileURLToPath(new URL('verify_evidence.py', import.meta.url));

/** pycose 1.1.0 reads what cbor2 5 decodes; the conserver pins the same two. */
const PACKAGES = ['pycose==1.1.0', 'cbor2==5.8.0'];

describe.skipIf(!python)('pycose, and Python written from the RFCs', () => {
  let evidence: GatheredEvidence;
  let environment: PythonEnvironment;
  beforeAll(async () => {
    environment = await installPackages(...PACKAGES);
    evidence = await gatherEvidence();
  });
  afterAll(async () => {
    await evidence?.close();
    await environment?.remove();
  });

  it('find every statement, receipt, seal, massif, key and checkpoint true, and none once a bit is turned', async () => {
    const { code, out, err } = await environment.run(VERIFIER, evidence.folder);
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect({ failed: lines.slice(0, -1), err, code }).toEqual({ failed: [], err: '', code: 0 });
    expect(lines.at(-1)).toEqual({ checks: 79, failures: 0 });
  });
});
