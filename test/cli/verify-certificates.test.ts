import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { toBase64 } from '../../src/core/bytes.js';
import { type CborMap, type CborValue, encodeCbor } from '../../src/core/cose/cbor.js';
import { encodeCoseKeySet } from '../../src/core/cose/cose-key.js';
import { sha256 } from '../../src/core/sha256.js';
import { assembleTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import {
  logged,
  sampleAssetEvent,
  sampleSigners,
  statementLogReceipt,
} from '../core/verify/sample-transparent-statement.js';
import {
  authority,
  DIGITAL_SIGNATURE,
  type SampleCertificate,
  sampleCertificate,
} from '../scitt/sample-certificate.js';
import { ALGORITHMS, type SampleParts, sampleStatement } from '../scitt/sample-statement.js';
import { commandLine } from '../support/command-line.js';

const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const ISSUER = 'https://issuer.example';
/** The sample event was accepted on 2025-01-16, when these were good, as they are no longer. */
const then = { notBefore: new Date('2025-01-01T00:00:00Z'), notAfter: new Date('2025-02-01T00:00:00Z') };
const root = authority({ ...then, subject: 'The authority' });
const other = authority({ subject: 'Another authority' });
const leaf = (parts: object = {}) =>
  sampleCertificate({
    issuedBy: root,
    subject: 'Signer',
    usages: [DIGITAL_SIGNATURE],
    uris: [ISSUER],
    ...then,
    ...parts,
  });
const signer = leaf();
const ca = file('ca.pem', root.pem);
const logKeys = file(
  'log-keys.cbor',
  encodeCoseKeySet([sampleSigners.statementLog, sampleSigners.sealer].map((each) => each.publicKey)),
);

function signed(by: SampleCertificate, parts: SampleParts = {}): Uint8Array {
  const { publicKey, privateKey } = by;
  const issuer = { algorithm: ALGORITHMS.ES256, publicKey, privateKey };
  const headers = new Map<number, CborValue | undefined>([[33, by.der], ...(parts.headers ?? [])]);
  return sampleStatement(issuer, { confirmation: false, ...parts, headers });
}

let files = 0;
async function transparent(statement: Uint8Array, withEvent = true): Promise<string> {
  const rfc9162Receipt = await statementLogReceipt(statement);
  const proof = withEvent ? await logged(sampleAssetEvent({ signed_statement: toBase64(statement) })) : {};
  files += 1;
  return file(`${files}.cose`, assembleTransparentStatement(statement, { rfc9162Receipt, ...proof }));
}

async function verify(...args: string[]) {
  const { out, exitCode } = await commandLine(['verify', '--json', '--log-keys', logKeys, '--statement-only', ...args]);
  const report = JSON.parse(out) as {
    readonly outcome: string;
    readonly claims?: readonly { readonly kind: string; readonly by: readonly object[] }[];
    readonly contradictions?: readonly { readonly code: string; readonly detail: string }[];
  };
  const signed = report.claims?.some(({ kind }) => kind === 'statement');
  const [refused] = report.contradictions ?? [];
  return { exitCode, code: refused?.code ?? (signed && 'signed'), detail: refused?.detail, report };
}

const at = (time: string) => ['--at', time];

describe('a registered statement whose signer is named by certificates', () => {
  it('verifies offline by its authority, at the time at which the log proves that it was accepted', async () => {
    expect(await verify('--ca', ca, await transparent(signed(signer)))).toMatchObject({
      exitCode: 0,
      code: 'signed',
    });
  });

  it('verifies by an authority in DER too, and a file without one is named', async () => {
    const wire = await transparent(signed(signer));
    expect(await verify('--ca', file('root.der', root.der), wire)).toMatchObject({ exitCode: 0, code: 'signed' });
    const none = await commandLine(['verify', '--log-keys', logKeys, '--ca', logKeys, wire]);
    expect([none.exitCode, none.err]).toEqual([2, expect.stringContaining(`no authority in ${logKeys}`)]);
  });

  it('has to hold now where nothing proves a time, or at the time that the caller knows', async () => {
    const wire = await transparent(signed(signer), false);
    const now = await verify('--ca', ca, wire);
    expect(now).toMatchObject({ exitCode: 1, code: 'certificate_invalid' });
    expect(now.detail).toContain('not valid at this time');
    expect((await verify('--ca', ca, ...at('2025-01-16T16:12:39Z'), wire)).code).toBe('signed');
    expect((await verify('--ca', ca, ...at('2024-12-31T23:59:59Z'), wire)).code).toBe('certificate_invalid');
    expect((await verify('--ca', ca, ...at('tomorrow'), wire)).exitCode).toBe(2);
  });

  it('is not saved by the caller’s time from what the log proves', async () => {
    const later = leaf({ notBefore: new Date('2025-01-20T00:00:00Z') });
    const refused = await verify('--ca', ca, ...at('2025-01-25T00:00:00Z'), await transparent(signed(later)));
    expect(refused).toMatchObject({ exitCode: 1, code: 'certificate_invalid' });
  });

  it('may have its chain beside the signature, when the hash of the first certificate is under it', async () => {
    const unprotected: CborMap = new Map([[33, signer.der]]);
    const x5t = (of: Uint8Array) =>
      new Map<number, CborValue | undefined>([
        [33, undefined],
        [34, [-16, sha256(of)]],
      ]);
    const wire = await transparent(signed(signer, { unprotected, headers: x5t(signer.der) }));
    expect((await verify('--ca', ca, wire)).code).toBe('signed');
    const swapped = await transparent(signed(signer, { unprotected, headers: x5t(leaf().der) }));
    expect((await verify('--ca', ca, swapped)).code).toBe('certificate_invalid');
  });

  it('verifies by the signer’s own key as well, given as PEM of the key or of the certificate', async () => {
    const wire = await transparent(signed(signer), false);
    const key = file('leaf-key.pem', signer.publicKey.export({ type: 'spki', format: 'pem' }));
    const certificate = file('leaf.pem', signer.pem);
    for (const given of [key, certificate]) expect((await verify('--issuer-keys', given, wire)).code).toBe('signed');
    const secret = file('secret.pem', signer.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    expect((await verify('--issuer-keys', secret, wire)).exitCode).toBe(2);
  });

  it.each([
    ['a curve', other.pem],
    ['RSA', sampleCertificate({ key: 2048 }).pem],
  ])('is not called changed if only a key of somebody else is given: %s', async (kind, pem) => {
    const wire = await transparent(signed(signer), false);
    const { exitCode, code, report } = await verify('--issuer-keys', file(`other-${kind}.pem`, pem), wire);
    expect([exitCode, code]).toEqual([1, 'issuer_key_not_trusted']);
    expect(report.contradictions?.[0]?.detail).toContain("its authority's certificate");
  });

  const anyone = leaf({ uris: ['https://somebody.example'] });
  const encipherer = leaf({ usages: [2] });
  const unusable = leaf({ key: 'secp256k1' });
  const strange = sampleCertificate({ issuedBy: other, subject: 'Signer', uris: [ISSUER] });
  const forged = { ...signer, privateKey: strange.privateKey };
  it.each<[string, string, () => Uint8Array]>([
    ['of an authority that is not trusted', 'issuer_key_not_trusted', () => signed(strange)],
    ['of another holder than the issuer', 'certificate_invalid', () => signed(anyone)],
    [
      'of a key that signs no evidence',
      'certificate_invalid',
      () => signed({ ...unusable, privateKey: signer.privateKey }),
    ],
    ['not for signing', 'certificate_invalid', () => signed(encipherer)],
    ['signed with another key than the certificate’s', 'statement_signature_invalid', () => signed(forged)],
    [
      'that is no certificate',
      'certificate_invalid',
      () => signed(signer, { headers: new Map([[33, encodeCbor(1)]]) }),
    ],
    [
      'with nine certificates',
      'certificate_invalid',
      () => signed(signer, { headers: new Map([[33, Array(9).fill(signer.der) as CborValue]]) }),
    ],
    ['with an empty chain', 'certificate_invalid', () => signed(signer, { headers: new Map([[33, []]]) })],
    ['with the authority’s own key', 'certificate_invalid', () => signed(root)],
  ])('is refused %s', async (_, code, make) => {
    expect(await verify('--ca', ca, await transparent(make()))).toMatchObject({ exitCode: 1, code });
  });

  it('without authority and key is refused, and the refusal says what to give', async () => {
    const wire = await transparent(signed(signer));
    const none = await verify(wire);
    expect(none.exitCode).toBe(2);
    expect(JSON.stringify(none.report)).toContain('--issuer-keys or --ca');
    const leafAsAuthority = await verify('--ca', file('not-ca.pem', signer.pem), wire);
    expect(leafAsAuthority.exitCode).toBe(2);
  });
});
