import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../api/test-service.js';
import { installPackages, type PythonEnvironment, python } from './python.js';

const SCRIPT = fileURLToPath(new URL('sdk_conformance.py', import.meta.url));

interface Step {
  readonly step: string;
  readonly ok: boolean;
  readonly error: string;
}

/** The newest version, and the last one that has a client for compliance. */
const VERSIONS: readonly (readonly [version: string, steps: number])[] = [
  ['0.35.0', 29],
  ['0.33.2', 33],
];

describe.skipIf(!python).each(VERSIONS)('the Python SDK datatrails-archivist %s', (version, expected) => {
  let running: TestService;
  let environment: PythonEnvironment;
  beforeAll(async () => {
    environment = await installPackages(`datatrails-archivist==${version}`);
    running = await startTestService({ PLUGIN_PORT: '0' });
  });
  afterAll(async () => {
    await running?.close();
    await environment?.remove();
  });

  it('finds in the service what it expects, step by step', async () => {
    const { owner } = running;
    const other = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    const credentials = [owner.clientId, owner.clientSecret, other.clientId, other.clientSecret];
    const { out, err } = await environment.run(SCRIPT, running.url, ...credentials);
    const steps = out
      .split('\n')
      .filter((line) => line.startsWith('{"step"'))
      .map((line) => JSON.parse(line) as Step);
    expect(steps.filter(({ ok }) => !ok)).toEqual([]);
    expect([steps.length, err]).toEqual([expected, '']);
  });
});
