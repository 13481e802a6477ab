import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode, encode } from 'cborg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { decodeStatement } from '../../src/core/statement/decode-statement.js';
import { statementEntry } from '../../src/core/statement/statement-entry.js';
import { foreignStatement, withLongHeads } from '../scitt/foreign-encoder.js';
import { sampleIssuer } from '../scitt/sample-statement.js';
import { commandLine } from '../support/command-line.js';
import { sendCose } from './send-cose.js';
import { startTestService, type TestService } from './test-service.js';

const folder = mkdtempSync(join(tmpdir(), 'foreign-'));
let running: TestService;
let logKeys: string;
beforeAll(async () => {
  running = await startTestService({ PLUGIN_PORT: '0' });
  logKeys = file('keys.cbor', (await running.anonymous.get('/.well-known/scitt-keys')).bytes);
}, 120_000);
afterAll(async () => {
  await running?.close();
  rmSync(folder, { recursive: true });
});

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const issuer = sampleIssuer();
const statement = foreignStatement(issuer);
const { protectedBytes, payload, signature } = decodeStatement(statement);
const longer = withLongHeads(protectedBytes, payload!, signature);
const key = { ...issuer.publicKey.export({ format: 'jwk' }), kid: 'testkey' };

const send = (path: string, body?: Uint8Array, headers = { 'content-type': 'application/cose' }) =>
  sendCose(running.url, running.owner, path, body, headers);

async function verify(...files: string[]): Promise<[number, string]> {
  const keys = ['--log-keys', logKeys, '--issuer-keys', file('issuer.json', JSON.stringify({ keys: [key] }))];
  const { exitCode, said } = await commandLine(['verify', ...keys, ...files]);
  return [exitCode, said];
}

it('a statement with times that are floats is registered as it came, and its receipt verifies', async () => {
  const answer = await send('/entries', statement);
  const location = answer.headers.get('location')!;
  expect([answer.status, (await send(`${location}/statement`)).bytes]).toEqual([201, statement]);
  const [exitCode, said] = await verify(file('s.cose', statement), file('r.cose', answer.bytes));
  expect([exitCode, said]).toEqual([0, expect.stringMatching(/^VERIFIED\./)]);
  expect((await verify(file('l.cose', longer), file('r.cose', answer.bytes)))[0]).toBe(0);
});

it('the same statement with other heads around what is signed is the same entry, also in bulk', async () => {
  const first = await send('/entries', statement);
  for (const same of [longer, statementEntry(statement)]) {
    const again = await send('/entries', same);
    expect([again.status, again.headers.get('location'), again.bytes]).toEqual([
      201,
      first.headers.get('location'),
      first.bytes,
    ]);
  }
  const bulk = await send('/entries:bulk', encode([longer, statement]), { 'content-type': 'application/cbor' });
  const results = decode(bulk.bytes) as { readonly status: number; readonly entry: string }[];
  expect(results.map(({ status }) => status)).toEqual([201, 201]);
  expect(new Set(results.map(({ entry }) => entry)).size).toBe(1);
  expect(first.headers.get('location')).toContain(results[0]!.entry);
});

it('the event that is made from such a statement has evidence that verifies', async () => {
  const door = '/archivist/v1/publicscitt';
  const signer = sampleIssuer();
  const submitted = foreignStatement(signer, { unprotected: new Map([[99, 0.5]]) });
  const posted = await sendCose(running.url, running.owner, `${door}/entries`, submitted, {});
  const { OperationID: operation } = decode(posted.bytes) as { OperationID: string };
  const entry = await vi.waitFor(
    async () => {
      const { bytes } = await running.owner.get(`${door}/operations/${operation}`);
      const answer = decode(bytes) as Record<string, string>;
      expect(answer['Status']).toBe('succeeded');
      return answer['EntryID']!;
    },
    { timeout: 60_000, interval: 250 },
  );
  const [, asset, event] = /^assets_(.+)_events_(.+)$/.exec(entry)!;
  const { bytes } = await running.anonymous.get(`/archivist/v2/publicassets/${asset}/events/${event}/evidence`);
  const jwk = { ...signer.publicKey.export({ format: 'jwk' }), kid: 'testkey' };
  const issuers = file('signer.json', JSON.stringify({ keys: [jwk] }));
  const { exitCode, said } = await commandLine([
    'verify',
    '--log-keys',
    logKeys,
    '--issuer-keys',
    issuers,
    file('evidence.zip', bytes),
  ]);
  expect([exitCode, said]).toEqual([0, expect.stringMatching(/^VERIFIED\./)]);
});
