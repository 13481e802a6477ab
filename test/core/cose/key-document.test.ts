import { describe, expect, it } from 'vitest';
import { utf8 } from '../../../src/core/bytes.js';
import { encodeCbor } from '../../../src/core/cose/cbor.js';
import { coseKeyFromJwk, encodeCoseKeySet, keyThumbprint } from '../../../src/core/cose/cose-key.js';
import { readKeyDocument } from '../../../src/core/cose/key-document.js';
import { publicJwk } from '../../../src/core/cose/public-key.js';
import { readFixture, type TestKeys } from './read-fixture.js';

const KEYS = readFixture<TestKeys>('keys');
const key = publicJwk(KEYS.issuer);
const json = (value: unknown) => utf8(JSON.stringify(value));
const coseKeyWith = (operations: number[]) => coseKeyFromJwk(key, keyThumbprint(key)).set(4, operations);
const method = { id: 'did:web:a.example#k1', type: 'JsonWebKey2020', publicKeyJwk: key };
/** JSON can have objects of which `String` throws. */
const withoutText = { toString: 1, valueOf: 1 };
const NAMELESS = {
  id: withoutText,
  verificationMethod: [{ ...method, id: withoutText }],
  assertionMethod: ['#k1', withoutText],
};

describe('published keys', () => {
  it.each<[string, Uint8Array]>([
    ['a COSE key set', encodeCoseKeySet([key])],
    ['a COSE key', encodeCbor(coseKeyFromJwk(key, keyThumbprint(key)))],
    ['a JWK set', json({ keys: [KEYS.issuer] })],
    ['a JWK', utf8(`\n  ${JSON.stringify(KEYS.issuer)}`)],
    ['a DID document', json({ id: 'did:web:a.example', verificationMethod: [{ id: 'x' }, method] })],
    ['a set with keys of other kinds', json({ keys: [{ kty: 'oct' }, { ...key, crv: 'secp256k1' }, key] })],
  ])('are read from %s, without any private half', (_, bytes) => {
    const read = readKeyDocument(bytes);
    expect(read).toHaveLength(1);
    expect(read[0]).toMatchObject({ kty: key.kty, crv: KEYS.issuer.crv, x: KEYS.issuer.x });
    expect(read[0]).not.toHaveProperty('d');
  });

  it.each([
    ['plainly', '"x":'],
    ['with an escape', '"\\u0078":'],
  ])('are not read from JSON with a name twice in one object, written %s', (_, name) => {
    const twice = JSON.stringify({ keys: [key] }).replace('"x":', `${name}"AAAA","x":`);
    expect(() => readKeyDocument(utf8(twice))).toThrow('the JSON has a duplicate name in one object');
  });

  it('are refused, and do not end the program, where JSON is nested deeply', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(() => readKeyDocument(utf8(`{"keys":${deep}}`))).toThrow('the JSON is nested too deeply');
  });

  it('of a DID document are named by the fragment of their method, unless they have a kid', () => {
    const named = { ...method, publicKeyJwk: { ...key, kid: 'own' } };
    const kids = readKeyDocument(json({ verificationMethod: [method, named] })).map(({ kid }) => kid);
    expect(kids).toEqual(['k1', 'own']);
  });

  it.each<[string, Uint8Array]>([
    ['a JWK for encryption', json({ keys: [{ ...key, use: 'enc' }, key] })],
    [
      'a JWK for key agreement',
      json({
        keys: [
          { ...key, key_ops: ['deriveKey'] },
          { ...key, key_ops: ['verify'] },
        ],
      }),
    ],
    ['a COSE key for key agreement', encodeCbor([coseKeyWith([7, 8]), coseKeyWith([1, 2])])],
  ])('are only those that verify signatures, and not %s', (_, bytes) => {
    expect(readKeyDocument(bytes)).toHaveLength(1);
  });

  it('of a DID document are those of its assertion methods, named or contained, or all if it has no such list', () => {
    const other = { ...method, id: '#k2' };
    const did = { id: 'did:web:a.example', verificationMethod: [method, other] };
    const kids = (document: object) => readKeyDocument(json({ ...did, ...document })).map(({ kid }) => kid);
    expect(kids({})).toEqual(['k1', 'k2']);
    expect(kids({ assertionMethod: ['#k1'], keyAgreement: ['#k2'] })).toEqual(['k1']);
    expect(kids({ assertionMethod: ['did:web:a.example#k2'] })).toEqual(['k2']);
    for (const verificationMethod of [undefined, null])
      expect(kids({ assertionMethod: [{ ...method, id: '#k3' }], verificationMethod })).toEqual(['k3']);
    for (const assertionMethod of [[], ['did:web:b.example#k1']]) expect(() => kids({ assertionMethod })).toThrow();
  });

  it.each<[string, string, Uint8Array]>([
    ['nothing', 'malformed', new Uint8Array(0)],
    ['broken JSON', 'malformed', utf8('{"keys":')],
    ['a JSON list', 'malformed', json([key])],
    ['another JSON document', 'malformed', json({ vcon: '0.3.0' })],
    ['text', 'malformed', utf8('-----BEGIN PUBLIC KEY-----')],
    ['a DID document whose names have no text', 'unsupported', json(NAMELESS)],
    ['a set without a usable key', 'unsupported', json({ keys: [{ kty: 'oct' }] })],
    ['an empty set', 'unsupported', json({ keys: [] })],
    ['a set with a broken key', 'key_invalid', json({ keys: [{ ...key, x: 'AQAB' }] })],
    ['a set with a member that is no key', 'key_invalid', json({ keys: ['key'] })],
  ])('are not seen in %s', (_, code, bytes) => {
    expect(() => readKeyDocument(bytes)).toThrow(expect.objectContaining({ code }));
  });
});
