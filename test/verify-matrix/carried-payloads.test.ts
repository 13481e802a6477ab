import { describe, expect, it } from 'vitest';
import { toHex, utf8 } from '../../src/core/bytes.js';
import type { CborMap, CborValue } from '../../src/core/cose/cbor.js';
import { createSign1, decodeSign1, encodeSign1 } from '../../src/core/cose/sign1.js';
import { sha256 } from '../../src/core/sha256.js';
import { assembleTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import {
  SAMPLE_ISSUER,
  SAMPLE_SUBJECT,
  SAMPLE_VCON,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from '../core/verify/sample-transparent-statement.js';
import { bothVerifiers } from './both-verifiers.js';
import type { GivenFiles } from './matrix-rows.js';

const { rig, judged } = bothVerifiers('carried-payloads');
const { issuer, stranger } = sampleSigners;

interface Answer {
  readonly outcome: string;
  readonly claims?: readonly { readonly kind: string; readonly facts: Record<string, unknown> }[];
  readonly contradictions?: readonly { readonly code: string; readonly piece: string; readonly detail: string }[];
}

const short = ({ outcome, claims = [], contradictions = [] }: Answer) =>
  [outcome, ...claims.map(({ kind }) => kind).sort(), ...contradictions.map(({ code }) => code)].join(' ');
const told = async (files: GivenFiles) => short(await judged<Answer>(files, short));

/** A statement with its receipt. Each is in a log of its own, because the sample log has one history for each. */
async function registered(statement: Uint8Array): Promise<Uint8Array> {
  const log = { issuer: 'https://archive.example', subject: `statements of ${toHex(sha256(statement))}` };
  const rfc9162Receipt = await statementLogReceipt(statement, sampleSigners.statementLog, log);
  return assembleTransparentStatement(statement, { rfc9162Receipt });
}

/** A registered statement that carries its payload itself. */
async function carrying(payload: Uint8Array, signer = issuer): Promise<Uint8Array> {
  const header: CborMap = new Map<number, CborValue>([
    [1, signer.alg],
    [3, 'application/json'],
    [4, signer.kid],
    [
      15,
      new Map([
        [1, SAMPLE_ISSUER],
        [2, SAMPLE_SUBJECT],
      ]),
    ],
  ]);
  return registered(encodeSign1(await createSign1(header, payload, signer)));
}

const payload = utf8('{"order": 7}');

describe('a file beside a statement that carries its payload', async () => {
  const whole = { 'a.cose': await carrying(payload) };
  const { unprotectedHeader: _, ...signed } = decodeSign1(whole['a.cose']);
  const plain = encodeSign1({ ...signed, unprotectedHeader: new Map() });
  const apart = { 's.cose': plain, 'r.cose': await statementLogReceipt(plain) };

  it('is its document if it is the payload, and is named as that', async () => {
    expect(await told(whole)).toBe('verified statement');
    for (const statement of [whole, apart]) {
      const { outcome, claims } = await judged<Answer>({ ...statement, 'order.json': payload }, short);
      expect([outcome, claims!.map(({ kind }) => kind).sort()]).toEqual(['verified', ['document', 'statement']]);
      const hash = toHex(sha256(payload));
      expect(claims!.find(({ kind }) => kind === 'statement')!.facts).toMatchObject({ payload_sha256: hash });
      expect(claims!.find(({ kind }) => kind === 'document')!.facts).toMatchObject({ form: 'raw', payload_hash: hash });
    }
  });

  it.each([
    ['another file', utf8('{"order": 8}')],
    ['the same JSON in another spelling', utf8('{"order":7}')],
    ['an empty file', new Uint8Array()],
    ['a vCon', SAMPLE_VCON],
  ])('is refused like a changed payload if it is %s', async (_name, other) => {
    for (const statement of [whole, apart])
      expect(await told({ ...statement, 'order.json': other })).toBe('refused statement payload_hash_mismatch');
  });

  it('is refused with words that say what it is not', async () => {
    const files = [rig.file('w.cose', whole['a.cose']), rig.file('other.json', '{}')];
    const { out, exitCode } = await rig.verify(...files);
    expect(exitCode).toBe(1);
    expect(out).toMatch(
      /other\.json, payload: the file is not the payload that the statement carries: it hashes to [0-9a-f]{64}, the payload to [0-9a-f]{64} \[payload_hash_mismatch\]/,
    );
  });

  it('is its document also if it looks like evidence itself', async () => {
    const inner = await sampleStatement(sampleAttributes(utf8('x')), stranger);
    const files = { 'a.cose': await carrying(inner), 'inner.cose': inner };
    expect(await told(files)).toBe('verified document statement');
  });

  it('is compared with every statement that was given: one of them is enough', async () => {
    const other = { 'b.cose': await carrying(utf8('another')) };
    expect(await told({ ...whole, ...other, 'order.json': payload })).toBe('verified document statement statement');
    const envelope = await registered(await sampleStatement(sampleAttributes(SAMPLE_VCON)));
    for (const document of [payload, SAMPLE_VCON])
      expect(await told({ ...whole, 'c.cose': envelope, 'd.json': document })).toBe(
        'verified document statement statement',
      );
  });

  it('proves nothing if nobody trusted has signed the statement', async () => {
    const strange = { 'a.cose': await carrying(payload, stranger) };
    expect(await told({ ...strange, 'order.json': payload })).toBe('refused issuer_key_not_trusted');
  });
});
