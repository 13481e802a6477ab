import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode } from 'cborg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CborValue } from '../../src/core/cose/cbor.js';
import { assembleTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import { authority, DIGITAL_SIGNATURE, sampleCertificate } from '../scitt/sample-certificate.js';
import { didX509 } from '../scitt/sample-did-x509.js';
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

describe('a statement whose issuer is a did:x509', () => {
  const [root, intermediate] = (() => {
    const top = authority({ subject: 'Root of did:x509' });
    return [top, authority({ subject: 'Intermediate', issuedBy: top })];
  })();
  const signer = sampleCertificate({
    issuedBy: intermediate,
    subject: 'Ann',
    usages: [DIGITAL_SIGNATURE],
    purposes: [3],
  });
  const { publicKey, privateKey } = signer;
  const signed = (issuer: string, chain: CborValue = [signer.der, intermediate.der]) =>
    sampleStatement(
      { algorithm: ALGORITHMS.ES256, publicKey, privateKey },
      { issuer, confirmation: false, headers: new Map([[33, chain]]) },
    );
  const register = async (statement: Uint8Array) => {
    const { status, bytes } = await sendCose(running.url, running.owner, '/entries', statement);
    return { status, bytes, said: new TextDecoder().decode(bytes) };
  };
  const offline = (bytes: Uint8Array) =>
    verify('--ca', file('did.pem', root.pem), '--statement-only', file('did.cose', bytes));
  const named = didX509(root, 'subject:CN:Ann');

  beforeAll(async () => {
    await running.owner.post('/archivist/v1/scitt/trust_anchors', { certificate: root.pem });
  });

  it('gets a receipt, which verifies offline by the authority', async () => {
    const statement = signed(named);
    const { status, bytes } = await register(statement);
    expect(status).toBe(201);
    const transparent = assembleTransparentStatement(statement, { rfc9162Receipt: bytes });
    expect(await offline(transparent)).toEqual([0, expect.stringMatching(/^VERIFIED/)]);
  });

  it.each<[string, string, CborValue?]>([
    ['its common name', named],
    ['its purpose, below the intermediate', didX509(intermediate, 'eku:1.3.6.1.5.5.7.3.3')],
    ['a chain with the root', named, [signer.der, intermediate.der, root.der]],
  ])('is registered by the service and verified by the verifier: %s', async (_what, issuer, chain) => {
    const statement = signed(issuer, chain);
    expect((await register(statement)).status).toBe(201);
    expect(await offline(statement)).toEqual([3, expect.stringContaining(issuer)]);
  });

  it.each<[string, string, string]>([
    ['another holder', didX509(root, 'subject:CN:Bob'), 'does not have the value of subject:CN in the issuer (1)'],
    ['one of two policies', `${named}::eku:1.3.6.1.5.5.7.3.4`, 'does not have the value of eku in the issuer (1)'],
    ['another authority', didX509(authority(), 'subject:CN:Ann'), 'is of no certificate above'],
    ["the signer's own certificate", didX509(signer, 'subject:CN:Ann'), 'is of no certificate above'],
    ['a policy that is not known', `${named}::serial:1`, 'each of its policies must be one of'],
  ])('is refused by both, for the same reason: %s', async (_what, issuer, reason) => {
    const statement = signed(issuer);
    expect(await register(statement)).toMatchObject({ status: 400, said: expect.stringContaining(reason) });
    const [exitCode, said] = await offline(statement);
    expect([exitCode, said]).toEqual([1, expect.stringContaining('[certificate_invalid]')]);
    expect(said).toContain(reason);
  });
});
