import { dirname } from 'node:path';
import { zipSync } from 'fflate';
import { afterAll, describe, expect, it } from 'vitest';
import { fromHex, utf8 } from '../../src/core/bytes.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import { SAMPLE_VCON, sampleAttributes, sampleStatement } from '../core/verify/sample-transparent-statement.js';
import { commandLine } from '../support/command-line.js';
import { freePort } from '../support/free-port.js';
import { readFixtureFile } from '../support/read-fixture-file.js';
import { verifyRig } from './verify-rig.js';

const { file, verify, remove } = verifyRig('verify-options');
afterAll(remove);

const ROOT = 'CSGJ-XIOO-3ZKK-3FM5-UZAF-OPDV-3RL3-RRYU-AAHN-SCHE-XKRS-Y7JL-EOA4-4GW4';
const vcon = file('vcon.json', SAMPLE_VCON);
const statement = file('statement.cose', await sampleStatement(sampleAttributes(SAMPLE_VCON)));

/** A key that agrees on secrets, and signs nothing. */
const X25519 =
  '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VuAyEAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=\n-----END PUBLIC KEY-----\n';

describe('an option of verify', () => {
  it.each([
    ['--at', 'nonsense', /--at must be a time/],
    ['--at', '2026-01-31T12:00:00Z', /--at needs --ca/],
    ['--state', 'folder', /--state needs --root/],
    ['--manifest', 'file', /--manifest needs --root/],
    ['--witness-quorum', '2', /--witness-quorum needs --witness/],
    ['--witness', 'w1.example', /--witness: a verifier key is not name\+hash\+key of an Ed25519 key/],
    [
      '--issuer',
      'tenant/0192e8f5-1111-7000-8000-000000000001',
      /is a tenancy, not the name of an issuer, such as did:/,
    ],
  ])('is refused where it says nothing: %s %s', async (option, value, says) => {
    const { out, err, exitCode } = await verify(option, value, vcon, statement);
    expect([out, err, exitCode]).toEqual(['', expect.stringMatching(says), 2]);
  });
});

describe('a file of keys that has none', () => {
  const known = readFixtureFile<{ file: string }>('keys/key-manifests.json');

  it.each([
    ['empty.cbor', new Uint8Array()],
    ['text.txt', 'no keys'],
    ['vcon.json', SAMPLE_VCON],
  ])('is named with the forms that are accepted: %s', async (name, content) => {
    const { err, exitCode } = await verify('--issuer-keys', file(`keyless/${name}`, content), vcon, statement);
    expect([exitCode, err]).toEqual([
      2,
      expect.stringMatching(/no keys in \S+ \(.+\): give a COSE key set, a JWK set, .* in PEM/),
    ]);
  });

  it('is told apart from a file whose key cannot sign evidence, or must stay secret', async () => {
    const { publicKey } = newKeyPair({ type: 'ec', curve: 'brainpoolP256r1' });
    const brainpool = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const secret = newKeyPair({ type: 'ed25519' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    for (const [content, says] of [
      [X25519, /\(a key is not P-256, .* or RSA of 2048 to 8192 bits/],
      [brainpool, /\(a key is not P-256, /],
      [secret, /\(it is a private key: give the public one\)/],
    ] as const) {
      const { err, exitCode } = await verify('--issuer-keys', file('unusable.pem', content), vcon, statement);
      expect([exitCode, err]).toEqual([2, expect.stringMatching(says)]);
    }
  });

  it('says of a key manifest which option takes it', async () => {
    const manifest = file('keyless/key-manifest.cbor', fromHex(known.file));
    const { err, exitCode } = await verify('--issuer-keys', manifest, vcon, statement);
    expect([exitCode, err]).toEqual([
      2,
      expect.stringContaining('is a key manifest: give it with --root and --manifest'),
    ]);
  });

  it('keys sign says what it signs', async () => {
    const root = file('root.pem', newKeyPair({ type: 'ed25519' }).privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const signed = ['--root-key', root, '--output', file('signed.cose', '')];
    const { err, exitCode } = await commandLine(['keys', 'sign', vcon, ...signed]);
    expect([exitCode, err]).toEqual([2, expect.stringMatching(/is not a key manifest as keys propose writes it \(/)]);
  });
});

describe('verify by the fingerprint of the root key', () => {
  const byRoot = (...args: string[]) => commandLine(['verify', '--root', ROOT, ...args]);

  it('says that there is no evidence before it asks for a key manifest', async () => {
    const { err, exitCode } = await byRoot(vcon);
    expect([err, exitCode]).toEqual([expect.stringMatching(/none of the files is evidence: .* a vCon/), 2]);
    expect((await byRoot(vcon, statement)).err).toContain('no key manifest: give one with --manifest');
  });

  it('says which zip or folder contains no evidence before it asks for keys, unless a statement names it', async () => {
    const letter = zipSync({ 'word/document.xml': utf8('<w/>') });
    const zip = file('letter.docx', letter);
    const folder = dirname(file('letters/letter.txt', 'Dear auditor'));
    for (const given of [zip, folder])
      for (const { err, exitCode } of [await byRoot(vcon, given), await commandLine(['verify', vcon, given])])
        expect([err, exitCode]).toEqual([expect.stringMatching(`^error: ${given} contains no evidence: neither `), 2]);
    const aboutIt = file('letter.cose', await sampleStatement(sampleAttributes(letter)));
    expect((await byRoot(aboutIt, zip)).err).toContain('no key manifest: give one with --manifest');
  });

  it('refuses a file of --manifest that is not a key manifest, and names it', async () => {
    const { err, exitCode } = await byRoot('--manifest', statement, vcon, statement);
    expect([err, exitCode]).toEqual([`error: --manifest: ${statement} is not a key manifest`, 2]);
  });

  it('takes a URL without other files', async () => {
    for (const given of [
      ['https://archivist.example/publicassets/x', vcon],
      ['https://a.example/1', 'https://a.example/2'],
    ]) {
      const { err, exitCode } = await byRoot(...given);
      expect([exitCode, err]).toEqual([2, 'error: give the URL of a public asset without other files']);
    }
  });

  it('says that a URL does not answer, or names no public asset, before it asks for a key manifest', async () => {
    const service = `http://127.0.0.1:${await freePort()}/archivist/v2`;
    const silent = await byRoot(`${service}/publicassets/0192e8f5-1111-7000-8000-000000000001`);
    expect([silent.err, silent.exitCode]).toEqual([
      expect.stringMatching(/^error: \S+ does not answer: check the address, /),
      2,
    ]);
    expect((await byRoot(`${service}/assets/x`)).err).toContain('must name a public asset');
  });

  it('is what somebody without keys is told first', async () => {
    const { err, exitCode } = await commandLine(['verify', vcon, statement]);
    expect([err, exitCode]).toEqual([
      expect.stringMatching(/^error: give --root <fingerprint>, which the operator/),
      2,
    ]);
  });
});
