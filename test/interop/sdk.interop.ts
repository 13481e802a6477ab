import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../api/test-service.js';
import { installPackages, type PythonEnvironment, python } from './python.js';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const SCRIPT = here('sdk_conformance.py');

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

  const story = async (name: string) => {
    const { url, owner } = running;
    const credentials = ['--client-id', owner.clientId, '--client-secret', owner.clientSecret];
    const { code, out, err } = await environment.runProgram('archivist_runner', [
      '-u',
      url,
      ...credentials,
      here(name),
    ]);
    expect([code, err.includes('Traceback') ? err : '']).toEqual([0, '']);
    return `${out}${err}`;
  };

  it('runs a story from its runner', async () => {
    const told = await story('story.yaml');
    const numbers = [...told.matchAll(/^Response (\d+)$/gm)].map(([, number]) => Number(number));
    expect(numbers).toEqual([1, 2]);
    expect(told.match(/"arc_display_type": "Weighed"/g)).toHaveLength(1);
    expect(told).toMatch(/0x99Fa4AAB0AF2B53f158083D8f244bb4523388197/);
  });

  it.skipIf(version !== VERSIONS[1]![0])('runs a story about compliance', async () => {
    const told = await story('compliance-story.yaml');
    expect(told.match(/^Compliant (True|False)$/gm)).toEqual(['Compliant True', 'Compliant False']);
    expect(told).toContain('NON-COMPLIANCE');
  });
});
