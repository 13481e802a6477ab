import { describe, expect, it } from 'vitest';
import { encodeCbor } from '../../src/core/cose/cbor.js';
import { coseKeyFromJwk, keyThumbprint } from '../../src/core/cose/cose-key.js';
import { decodeSign1, encodeSign1 } from '../../src/core/cose/sign1.js';
import {
  SAMPLE_VCON,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from '../core/verify/sample-transparent-statement.js';
import { bothVerifiers } from './both-verifiers.js';
import type { PythonAnswer } from './python-verifier.js';

const { rig, judged } = bothVerifiers('published-keys');

const { publicKey } = sampleSigners.issuer;
const stranger = sampleSigners.stranger.publicKey;
const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON));
const receipts = [await statementLogReceipt(statement)];
const unprotectedHeader = new Map([[394, receipts]]);
const files = { 'a.cose': encodeSign1({ ...decodeSign1(statement), unprotectedHeader }), 'call.json': SAMPLE_VCON };

let keyFiles = 0;
/** The outcome and the refusals under these issuer keys, which both verifiers must answer alike. */
async function told(keys: object | Uint8Array): Promise<readonly string[]> {
  keyFiles += 1;
  const file = rig.file(`keys-${keyFiles}`, keys instanceof Uint8Array ? keys : JSON.stringify(keys));
  const short = ({ outcome, contradictions = [] }: PythonAnswer) => [
    outcome,
    ...contradictions.map(({ code }) => code),
  ];
  return short(await judged<PythonAnswer>(files, short, { issuer_keys: [file] }));
}

const coseKeys = (operations: number[]) =>
  encodeCbor([
    coseKeyFromJwk(stranger, keyThumbprint(stranger)),
    coseKeyFromJwk(publicKey, keyThumbprint(publicKey)).set(4, operations),
  ]);
const did = (relationships: object) => {
  const methods = [
    { id: '#other', publicKeyJwk: stranger },
    { id: '#key', publicKeyJwk: publicKey },
  ];
  return { id: 'did:web:issuer.example', verificationMethod: methods, ...relationships };
};

describe('a key that its owner published for signatures', () => {
  it.each<[string, object]>([
    ['a JWK that says so', { keys: [stranger, { ...publicKey, use: 'sig', key_ops: ['verify'] }] }],
    ['a COSE key that says so', coseKeys([1, 2])],
    ['a DID document that says nothing', did({})],
    ['an assertion method', did({ assertionMethod: ['#key'] })],
    ['an assertion method by its full name', did({ assertionMethod: ['#other', 'did:web:issuer.example#key'] })],
    ['an assertion method by itself', did({ assertionMethod: ['#other', { id: '#key', publicKeyJwk: publicKey }] })],
  ])('verifies a statement: %s', async (_, keys) => {
    expect(await told(keys)).toEqual(['verified']);
  });
});

describe('a key that its owner published for something else', () => {
  it.each<[string, object]>([
    ['encryption', { keys: [stranger, { ...publicKey, use: 'enc' }] }],
    ['key agreement', { keys: [stranger, { ...publicKey, key_ops: ['deriveKey', 'deriveBits'] }] }],
    ['key agreement, as a COSE key', coseKeys([7, 8])],
    ['key agreement, in a DID document', did({ assertionMethod: ['#other'], keyAgreement: ['#key'] })],
  ])('verifies no statement: %s', async (_, keys) => {
    expect(await told(keys)).toEqual(['refused', 'issuer_key_not_trusted']);
  });
});
