// cbor-x as a signer in JavaScript uses it, with its defaults: times with a fraction and integers beyond 32 bits become
// floats, and each plain object has a length of two bytes.
import { Encoder, Tag } from 'cbor-x';
import { signatureInput } from '../../src/core/cose/sign1.js';
import { coseKeyOf, type SampleIssuer, SUBJECT, sampleDigest, signatureOf } from './sample-statement.js';

const encoder = new Encoder({ mapsAsObjects: false, useRecords: false, tagUint8Array: false });
const encode = (value: unknown) => new Uint8Array(encoder.encode(value));

interface Parts {
  /** Claim 6; a float if it has a fraction. */
  readonly issuedAt?: number;
  readonly payload?: Uint8Array;
  readonly unprotected?: ReadonlyMap<unknown, unknown>;
}

/** The protected header of a statement with a time, as cbor-x writes it. */
export function foreignHeader(signer: SampleIssuer, issuedAt = 1_700_821_100.25): Uint8Array {
  const claims = new Map<number, unknown>([
    [1, 'https://issuer.example'],
    [2, SUBJECT],
    [4, issuedAt + 3_600],
    [5, issuedAt - 1],
    [6, issuedAt],
    [8, new Map([[1, coseKeyOf(signer)]])],
  ]);
  return encode(
    new Map<number, unknown>([
      [1, signer.algorithm.number],
      [4, new TextEncoder().encode('testkey')],
      [15, claims],
      [-6800, -16],
      [-6804, { vcon_operation: 'vcon_created', measured: 0.1 }],
    ]),
  );
}

/** A statement that cbor-x encodes in every part. */
export function foreignStatement(signer: SampleIssuer, { issuedAt, payload, unprotected }: Parts = {}): Uint8Array {
  const protectedBytes = foreignHeader(signer, issuedAt);
  const content = payload ?? sampleDigest('a call');
  const signature = signatureOf(signer, signatureInput(protectedBytes, content));
  return encode(new Tag([protectedBytes, unprotected ?? {}, content, signature], 18));
}

/** The same message, whose parts have heads of eight bytes: what is signed is not in them. */
export function withLongHeads(protectedBytes: Uint8Array, payload: Uint8Array, signature: Uint8Array): Uint8Array {
  const long = (bytes: Uint8Array) => Buffer.concat([Buffer.of(0x5b), uint64(bytes.length), bytes]);
  const parts = [long(protectedBytes), Buffer.from('b8011863f93c00', 'hex'), long(payload), long(signature)];
  return new Uint8Array(Buffer.concat([Buffer.from('d29804', 'hex'), ...parts]));
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
