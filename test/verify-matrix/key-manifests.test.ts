import { describe, expect, it } from 'vitest';
import { type CborMap, type CborValue, decodeCbor, encodeCbor } from '../../src/core/cose/cbor.js';
import { keyThumbprint } from '../../src/core/cose/cose-key.js';
import { decodeSign1, encodeSign1, signatureInput } from '../../src/core/cose/sign1.js';
import type { Signer } from '../../src/core/cose/signature.js';
import type { KeyManifest, ManifestKey } from '../../src/core/keys/key-manifest.js';
import { namedKey } from '../../src/core/keys/manifest-key.js';
import { readKeyManifest } from '../../src/core/keys/read-key-manifest.js';
import { rootFingerprint } from '../../src/core/keys/root-fingerprint.js';
import { signKeyManifest } from '../../src/core/keys/sign-key-manifest.js';
import { encodeKeyManifests } from '../../src/core/keys/verify-key-manifests.js';
import { sha256 } from '../../src/core/sha256.js';
import { stepsFrom, withEndedKeys } from '../core/keys/contradicting-manifests.js';
import { firstManifest, nextManifest, sampleRoot } from '../core/keys/sample-manifests.js';
import {
  logged,
  SAMPLE_ISSUER,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from '../core/verify/sample-transparent-statement.js';
import { bothVerifiers } from './both-verifiers.js';
import type { GivenFiles } from './matrix-rows.js';

const { rig, judged } = bothVerifiers('key-manifests');

interface Answer {
  readonly outcome: string;
  readonly claims?: readonly { readonly kind: string }[];
  readonly contradictions?: readonly { readonly code: string }[];
  /** The second verifier lists only what is missing, without a sentence. */
  readonly missing?: readonly (string | { readonly what: string })[];
}

const ABOUT_MANIFESTS = ['key_history', 'later_manifests', 'order'];

/** The outcome, the refusals, the kinds of claims, and what is said of the manifest, which both verifiers must answer alike. */
function short({ outcome, claims = [], contradictions = [], missing = [] }: Answer): string {
  const codes = contradictions.map(({ code }) => code);
  const kinds = claims.map(({ kind }) => kind).sort();
  const lacks = missing.map((each) => (typeof each === 'string' ? each : each.what));
  return [outcome, ...codes, ...kinds, ...ABOUT_MANIFESTS.filter((what) => lacks.includes(what))].join(' ');
}

/** The same without the refusals: of two faults either may be found first. */
const proven = (answer: Answer) => short({ ...answer, contradictions: [] });

const [root, nextRoot, stranger] = [sampleRoot(1), sampleRoot(2), sampleRoot(3)];
const fingerprint = (signer: Signer) => rootFingerprint(keyThumbprint(signer.publicKey));
const ROOT = fingerprint(root);

async function told(files: GivenFiles, issuerKeys: readonly string[] = [], pinned = ROOT): Promise<string> {
  const trust = { root: pinned, log_keys: [], issuer_keys: issuerKeys };
  return short(await judged<Answer>(files, short, trust));
}

const LOG = { issuer: 'https://archive.example', subject: 'log/0199c2d0-0000-7000-8000-000000000002' };
/** Of the log in every receipt of the samples; the statement is entry 4. */
const SIZE = 7n;
const { issuer, statementLog, sealer } = sampleSigners;
const SIGNERS = { issuer, seal: sealer, statement_receipt: statementLog };

/** Before all events of the samples. */
const ISSUED = Date.parse('2025-01-01T00:00:00Z');

const listed = (role: string, signer: Signer, more: Partial<ManifestKey> = {}): ManifestKey => ({
  role,
  ...namedKey(signer.publicKey as unknown as Record<string, string>),
  state: 'active',
  validFromMs: 1,
  since: 1,
  ...more,
});

/** The manifest of the service of the samples. */
function manifest(keys = Object.entries(SIGNERS).map(([role, signer]) => listed(role, signer))): KeyManifest {
  const first = firstManifest(root.publicKey);
  const logs = first.logs.map((log) => ({ ...log, firstSize: 0n }));
  return { ...first, issuedAtMs: ISSUED, firstIssuedAtMs: ISSUED, keys, logs };
}

/** The manifest after the key of a role was stolen and replaced, when the log of the samples had this size. */
function stolen(role: keyof typeof SIGNERS, size: bigint): KeyManifest {
  const sizes = { [LOG.subject]: size };
  const { keys, ...rest } = manifest();
  const ended = keys.map((key) =>
    key.role === role ? { ...key, state: 'revoked' as const, validUntilMs: 2, revokedAt: sizes } : key,
  );
  return { ...rest, keys: [...ended, listed(role, stranger, { validFromMs: 2 })] };
}

const attributes = sampleAttributes(SAMPLE_VCON);
const statement = await sampleStatement(attributes);
const receipt = await statementLogReceipt(statement, statementLog, LOG);
const { event, mmrReceipt } = await logged(sampleAssetEvent(attributes));
const carrying = (bytes: Uint8Array, receipts: Uint8Array[], frozen?: object) => {
  const header: CborMap = new Map<number | string, CborValue>([[394, receipts]]);
  if (frozen) header.set('event', JSON.stringify(frozen));
  return encodeSign1({ ...decodeSign1(bytes), unprotectedHeader: header });
};
const files = { 'a.cose': carrying(statement, [receipt, mmrReceipt], event), 'call.json': SAMPLE_VCON };
const without = { 'a.cose': carrying(statement, [receipt]), 'call.json': SAMPLE_VCON };
const signed = (each: KeyManifest, signer = root) => signKeyManifest(each, signer);
const under = async (each: KeyManifest, given: GivenFiles = files) => ({ ...given, 'k.cbor': await signed(each) });

describe('evidence under a key manifest', () => {
  it('verifies with the keys of the manifest, in whatever state but revoked', async () => {
    expect(await told(await under(manifest()))).toBe('verified document event statement later_manifests order');
    const retired = Object.entries(SIGNERS).flatMap(([role, signer], at) => [
      listed(role, signer, { state: 'retired', validUntilMs: 5 }),
      listed(role, sampleRoot(11 + at), { validFromMs: 2 }),
    ]);
    expect(await told(await under(manifest(retired)))).toBe('verified document event statement later_manifests order');
    expect(await told(files)).toMatch(/^unreadable/);
  });

  it('counts a stolen issuer key’s statement only in a tree no larger than at the revocation', async () => {
    expect(await told(await under(stolen('issuer', SIZE), without))).toBe(
      'verified document statement later_manifests',
    );
    expect(await told(await under(stolen('issuer', SIZE - 1n), without))).toBe('incomplete later_manifests');
    const forked = await statementLogReceipt(statement, statementLog, { ...LOG, subject: `${LOG.subject}.1` });
    const inFork = { ...without, 'a.cose': carrying(statement, [forked]) };
    expect(await told(await under(stolen('issuer', SIZE), inFork))).toBe('incomplete later_manifests');
  });

  it('counts what a stolen log key signed only if another receipt that counts proves the same leaf', async () => {
    expect(await told(await under(stolen('statement_receipt', SIZE), without))).toBe('incomplete later_manifests');
    const good = await statementLogReceipt(statement, stranger, LOG);
    const both = { ...without, 'b.cose': good };
    expect(await told(await under(stolen('statement_receipt', SIZE), both))).toBe(
      'verified document entry statement later_manifests',
    );
    expect(await told(await under(stolen('seal', SIZE)))).toBe('incomplete document statement later_manifests');
  });

  it('does not count a receipt by a stolen key, or by a key of another role, beside one that counts', async () => {
    const byNew = await statementLogReceipt(statement, stranger, LOG);
    const byPeer = await statementLogReceipt(statement, sealer, LOG);
    const carried = (...receipts: Uint8Array[]) => ({ ...without, 'a.cose': carrying(statement, receipts) });
    const verified = 'verified document statement later_manifests';
    const sizes = stolen('statement_receipt', SIZE - 1n);
    expect(await told(await under(sizes, carried(receipt)))).toBe('incomplete later_manifests');
    expect(await told(await under(manifest(), carried(byPeer)))).toBe('refused log_key_not_trusted later_manifests');
    for (const [keys, one, other] of [
      [sizes, receipt, byNew],
      [manifest(), byPeer, receipt],
    ] as const)
      for (const given of [carried(one, other), carried(other, one)])
        expect(await told(await under(keys, given))).toBe(verified);
  });

  it('is refused by a key of another role, and in the deployment’s name by a key that is not listed', async () => {
    const swapped = manifest([
      listed('issuer', sealer),
      listed('seal', issuer),
      listed('statement_receipt', statementLog),
    ]);
    expect(await told(await under(swapped))).toBe('refused issuer_key_not_trusted log_key_not_trusted later_manifests');
    const others = rig.file('other-issuer.json', JSON.stringify(issuer.publicKey));
    const unlisted = manifest([
      listed('issuer', stranger),
      listed('seal', sealer),
      listed('statement_receipt', statementLog),
    ]);
    for (const name of [SAMPLE_ISSUER, SAMPLE_ISSUER.replace('archive', 'ARCHIVE'), 'https://issuer.example']) {
      const theirs = await sampleStatement(attributes, issuer, name);
      const given = { ...without, 'a.cose': carrying(theirs, [await statementLogReceipt(theirs, statementLog, LOG)]) };
      expect(await told(await under(unlisted, given), [others])).toBe(
        name.startsWith('did:')
          ? 'refused issuer_key_not_trusted later_manifests'
          : 'verified document statement later_manifests',
      );
    }
  });

  it('says what is older than the first manifest, by its place or by its own log', async () => {
    const older = (firstSize: bigint, issued = ISSUED): KeyManifest => {
      const { logs, ...rest } = manifest();
      return {
        ...rest,
        issuedAtMs: issued,
        firstIssuedAtMs: issued,
        logs: logs.map((log) => (log.name === LOG.subject ? { ...log, firstSize } : log)),
      };
    };
    expect(await told(await under(older(5n), without))).toBe('verified document statement key_history later_manifests');
    expect(await told(await under(older(4n), without))).toBe('verified document statement later_manifests');
    const justAfter = Date.parse('2030-01-01T00:00:00Z');
    expect(await told(await under(older(4n, justAfter)))).toMatch(/^verified .*key_history/);
  });
});

describe('key manifests', async () => {
  const one = manifest();
  const first = await signed(one);
  const two = { ...nextManifest(one, sha256(first), nextRoot.publicKey), keys: one.keys };
  const second = await signed(two);
  const three = { ...nextManifest(two, sha256(second), nextRoot.publicKey), keys: one.keys };
  const third = await signed(three, nextRoot);
  const other = await signed({ ...two, issuedAtMs: two.issuedAtMs + 1 });
  const given = (...lists: Uint8Array[][]) => ({
    ...without,
    ...Object.fromEntries(lists.map((list, at) => [`k${at}.cbor`, encodeKeyManifests(list)])),
  });
  const good = 'verified document statement later_manifests';

  it.each<[string, string, GivenFiles, Signer?]>([
    ['one by the root', good, given([first])],
    ['a rotation of the root', good, given([first, second, third])],
    ['a rotation in two files', good, given([first, second], [second, third])],
    ['the new root alone', good, given([second, third]), nextRoot],
    ['another root', 'refused root_not_trusted', given([first]), stranger],
    ['a rotation that is missing', 'refused root_not_trusted', given([first, third])],
    ['two of one number', 'refused manifest_invalid', given([first, second], [first, other])],
    [
      'one that does not follow',
      'refused manifest_invalid',
      given([first, await signed({ ...two, previous: sha256(third) })]),
    ],
    ['falling numbers', 'unreadable', given([second, first])],
    ['one of another root beside', good, given([first], [await signed(one, stranger)])],
    ['a signature of another key', 'refused manifest_signature_invalid', given([withSignature(first, second)])],
  ])('are judged alike: %s', async (_, expected, evidence, signer = root) => {
    expect(await told(evidence, [], fingerprint(signer))).toBe(expected);
  });

  const ended = { ...withEndedKeys(one, { retired: 'seal', revoked: 'issuer' }), previous: sha256(first) };
  const endedBytes = await signed(ended);
  const steps = stepsFrom(readKeyManifest(endedBytes).manifest);
  it.each([
    ...steps.good.map(({ step, to }) => [step, good, to] as const),
    ...steps.contradicting.map(({ step, to }) => [step, 'refused manifest_invalid', to] as const),
  ])('are judged alike, with a gap and without: %s', async (_, expected, to) => {
    const after = (number: number) => signed({ ...ended, previous: sha256(endedBytes), ...to, number });
    expect(await told(given([first, endedBytes, await after(3)]))).toBe(expected);
    expect(await told(given([endedBytes], [await after(9)]))).toBe(expected);
  });

  it('are judged alike with any member of another value, signed by the root', async () => {
    const { protectedHeader, payload } = decodeSign1(await signed(stolen('issuer', SIZE)));
    const outcomes = new Set<string>();
    const judge = async (header: CborMap, content: Uint8Array) => {
      const protectedBytes = encodeCbor(header);
      const signature = await root.sign(signatureInput(protectedBytes, content));
      const message = encodeSign1({ protectedBytes, unprotectedHeader: new Map(), payload: content, signature });
      const trust = { root: ROOT, log_keys: [], issuer_keys: [] };
      const { outcome } = await judged<Answer>({ ...without, 'k.cbor': message }, proven, trust);
      outcomes.add(outcome);
    };
    for (const changed of variants(decodeCbor(payload!))) await judge(protectedHeader, encodeCbor(changed));
    for (const changed of variants(protectedHeader)) if (changed instanceof Map) await judge(changed, payload!);
    expect([...outcomes].sort()).toEqual(['incomplete', 'refused', 'unreadable', 'verified']);
  });
});

function withSignature(bytes: Uint8Array, other: Uint8Array): Uint8Array {
  return encodeSign1({ ...decodeSign1(bytes), signature: decodeSign1(other).signature });
}

const OTHER_VALUES: readonly CborValue[] = [null, 0, 1, -1, 2 ** 52, 'active', '', new Uint8Array(32), [], new Map()];

/** The value with one member left out, added, or of another value, at every place. */
function* variants(value: CborValue): Generator<CborValue> {
  if (value instanceof Map) {
    for (const [label, member] of value) {
      const rest = new Map(value);
      rest.delete(label);
      yield rest;
      for (const changed of [...OTHER_VALUES, ...variants(member)]) yield new Map(value).set(label, changed);
    }
    yield new Map(value).set(99, 0);
  } else if (Array.isArray(value)) {
    for (const [at, member] of value.entries()) {
      yield value.toSpliced(at, 1);
      for (const changed of variants(member)) yield value.with(at, changed);
    }
    if (value.length > 0) yield [...value, value[0]!];
  }
}
