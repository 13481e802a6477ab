import { describe, expect, it } from 'vitest';
import { utf8 } from '../../../src/core/bytes.js';
import { encodeCbor } from '../../../src/core/cose/cbor.js';
import { coseKeyFromJwk, encodeCoseKeySet, keyThumbprint } from '../../../src/core/cose/cose-key.js';
import { kindOf } from '../../../src/core/evidence/evidence-kind.js';
import {
  SAMPLE_VCON,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
} from '../verify/sample-transparent-statement.js';

const json = (value: unknown) => utf8(JSON.stringify(value));
const DID = { id: 'did:web:partner.example', verificationMethod: [{ id: '#key', type: 'JsonWebKey' }] };

describe('what a file is taken for', () => {
  it('is evidence if it begins as a COSE message, also one that is damaged', async () => {
    const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON));
    expect(kindOf(statement)).toBe('statement');
    expect(kindOf(statement.subarray(0, 40))).toBe('transparent_statement');
  });

  it.each(['Қайырлы күн', 'Ґрунт', 'Ҙур'])(
    'is a document if it is a text, such as %s, whose first byte is that of COSE',
    (text) => {
      expect(utf8(text)[0]).toBe(0xd2);
      expect(kindOf(utf8(text))).toBe('document');
    },
  );

  it('is keys if it is a DID document, and a document as soon as it says anything else', () => {
    expect(kindOf(json({ '@context': 'https://www.w3.org/ns/did/v1', ...DID }))).toBe('keys');
    expect(kindOf(json({ ...DID, transcript: 'the customer agreed' }))).toBe('document');
  });

  it('is keys if it is a published COSE key set, and a document if it is one COSE key or another list', () => {
    const key = sampleSigners.sealer.publicKey;
    expect(kindOf(encodeCoseKeySet([key]))).toBe('keys');
    expect(kindOf(encodeCbor(coseKeyFromJwk(key, keyThumbprint(key))))).toBe('document');
    expect(kindOf(encodeCbor(['the customer agreed']))).toBe('document');
  });
});
