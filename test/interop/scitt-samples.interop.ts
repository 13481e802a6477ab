import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statementEntry } from '../../src/core/statement/statement-entry.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { installPackages, type PythonEnvironment, pythonMinor } from './python.js';

const SCRIPT = fileURLToPath(new URL('scitt_samples.py', import.meta.url));
/** Its pycose changes what cbor2 decodes, which cbor2 6 forbids. */
const PACKAGES = ['datatrails-scitt-samples==0.1.1a1', 'cbor2==5.8.0'];
const OLDEST_PYTHON = 11;

const STATEMENTS: readonly (readonly [program: string, arguments_: readonly string[]])[] = [
  ['create-hashed-signed-statement', ['--issuer', 'example', '--subject', 'a thing', '--metadata-file', 'meta.json']],
  ['create-hashed-signed-statement', ['--issuer', 'example', '--subject', 'a thing', '--use-draft-04-labels']],
  ['create-signed-statement', []],
  ['create-signed-statement', ['--use-draft-04-labels', '--payload-location', 'https://example.com/payload']],
];

describe.skipIf(pythonMinor < OLDEST_PYTHON)('the stock SCITT samples', () => {
  let running: TestService;
  let environment: PythonEnvironment;
  let folder: string;
  beforeAll(async () => {
    environment = await installPackages(...PACKAGES);
    running = await startTestService({ PLUGIN_PORT: '0' });
    folder = await mkdtemp(join(tmpdir(), 'archivist-scitt-'));
    await writeFile(join(folder, 'payload.json'), '{"foo":"bar"}');
    await writeFile(join(folder, 'meta.json'), '{"a":"b","project":25}');
    expect((await program('datatrails-sciit-demo-generate-example-key')).code).toBe(0);
  });
  afterAll(async () => {
    await running?.close();
    await environment?.remove();
    if (folder) await rm(folder, { recursive: true });
  });

  const options = () => ({
    cwd: folder,
    environment: {
      DATATRAILS_URL: running.url,
      DATATRAILS_CLIENT_ID: running.owner.clientId,
      DATATRAILS_CLIENT_SECRET: running.owner.clientSecret,
    },
  });
  const program = (name: string, ...arguments_: string[]) => environment.runProgram(name, arguments_, options());

  it.each(STATEMENTS)(
    '%s %j: register, verify the receipt over the public event, and attach it',
    async (name, more) => {
      expect(await program(name, ...more)).toMatchObject({ code: 0, err: '' });
      const registered = await program('python', SCRIPT, 'signed-statement.cbor', 'transparent.cbor');
      expect(registered).toEqual({
        code: 0,
        err: '',
        out: expect.stringMatching(/^assets_[0-9a-f-]{36}_events_[0-9a-f-]{36}\n$/),
      });
      const [statement, transparent] = await Promise.all(
        ['signed-statement.cbor', 'transparent.cbor'].map((file) => readFile(join(folder, file))),
      );
      expect(statementEntry(new Uint8Array(transparent!))).toEqual(statementEntry(new Uint8Array(statement!)));
      const [, asset, event] = /^assets_(.*)_events_(.*)\n$/.exec(registered.out)!;
      const served = await running.anonymous.get(`/archivist/v2/publicassets/${asset}/events/${event}`);
      await writeFile(join(folder, 'event.json'), served.bytes);
      const told = await program('datatrails-event-info', '--event-json-file', 'event.json');
      expect(told).toMatchObject({ code: 0, out: expect.stringContaining('cbor decoded cose sign1 statement') });
    },
  );
});
