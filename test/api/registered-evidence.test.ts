import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode } from 'cborg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { authority, DIGITAL_SIGNATURE, sampleCertificate } from '../scitt/sample-certificate.js';
import { ALGORITHMS, sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { commandLine } from '../support/command-line.js';
import { sendCose } from './send-cose.js';
import { startTestService, type TestService } from './test-service.js';

const ISSUER = 'https://issuer.example';
const folder = mkdtempSync(join(tmpdir(), 'registered-'));
let running: TestService;
let logKeys: string;

beforeAll(async () => {
  running = await startTestService();
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

/** Registers a statement by the stock clients' door and fetches the evidence of the event that it became. */
async function evidenceOf(statement: Uint8Array, name: string): Promise<string> {
  const door = '/archivist/v1/publicscitt';
  const posted = await sendCose(running.url, running.owner, `${door}/entries`, statement, {});
  const { OperationID: operation } = decode(posted.bytes) as { OperationID: string };
  const entry = await vi.waitFor(
    async () => {
      const answer = decode((await running.owner.get(`${door}/operations/${operation}`)).bytes) as Record<
        string,
        string
      >;
      expect(answer['Status']).toBe('succeeded');
      return answer['EntryID']!;
    },
    { timeout: 60_000, interval: 250 },
  );
  const [, asset, event] = /^assets_(.+)_events_(.+)$/.exec(entry)!;
  const answer = await running.anonymous.get(`/archivist/v2/publicassets/${asset}/events/${event}/evidence`);
  expect(answer.status).toBe(200);
  return file(name, answer.bytes);
}

async function verify(...args: string[]): Promise<[number, string]> {
  const { exitCode, said } = await commandLine(['verify', '--log-keys', logKeys, ...args]);
  return [exitCode, said];
}

describe('the evidence of a registered statement verifies offline', () => {
  it.each(Object.entries(ALGORITHMS))('by the key of its issuer: %s', async (name, algorithm) => {
    const issuer = sampleIssuer(algorithm);
    const bundle = await evidenceOf(sampleStatement(issuer), `${name}.zip`);
    const pem = (of: typeof issuer) => of.publicKey.export({ type: 'spki', format: 'pem' }) as string;
    expect(await verify('--issuer-keys', file(`${name}.pem`, pem(issuer)), bundle)).toEqual([
      0,
      expect.stringMatching(/^VERIFIED/),
    ]);
    const [exitCode, text] = await verify('--issuer-keys', file('other.pem', pem(sampleIssuer(algorithm))), bundle);
    expect([exitCode, text]).toEqual([1, expect.stringContaining('[issuer_key_not_trusted]')]);
  });

  it('by the authority of its signer', async () => {
    const root = authority();
    const made = await running.owner.post('/archivist/v1/scitt/trust_anchors', { certificate: root.pem });
    expect(made.status).toBe(200);
    const signer = sampleCertificate({
      issuedBy: root,
      subject: 'Signer',
      usages: [DIGITAL_SIGNATURE],
      uris: [ISSUER],
    });
    const statement = sampleStatement(
      { algorithm: ALGORITHMS.ES256, publicKey: signer.publicKey, privateKey: signer.privateKey },
      { confirmation: false, headers: new Map([[33, signer.der]]) },
    );
    const bundle = await evidenceOf(statement, 'chain.zip');
    expect(await verify('--ca', file('ca.pem', root.pem), bundle)).toEqual([0, expect.stringMatching(/^VERIFIED/)]);
    const [exitCode, text] = await verify('--ca', file('another.pem', authority().pem), bundle);
    expect([exitCode, text]).toEqual([1, expect.stringContaining('[issuer_key_not_trusted]')]);
  });
});
