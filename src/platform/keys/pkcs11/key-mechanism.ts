import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { concatBytes, equalBytes, fromBase64, fromHex, toBase64Url } from '../../../core/bytes.js';
import type { Attribute } from './call-memory.js';
import { CKA, CKM } from './pkcs11-constants.js';

type Jwk = Record<string, string>;

/** How a module creates keys of one algorithm and signs with them. */
export interface KeyMechanism {
  readonly generate: bigint;
  readonly publicTemplate: readonly Attribute[];
  readonly sign: bigint;
  /** Whether signing is deterministic: one message, one signature. */
  readonly sameEachTime?: boolean;
  /**
   * The public half, from the attributes that the module shows. @throws {TypeError} if they are not a key of this kind
   */
  publicJwk(attribute: (type: bigint) => Promise<Uint8Array>): Promise<Jwk>;
  /** The input of the module for a message. */
  input(message: Uint8Array): Uint8Array;
  /** The signature of the role from the module's output (`PrivateKey.sign`). */
  output?(signature: Uint8Array, message: Uint8Array, jwk: Readonly<Jwk>): Uint8Array;
}

const COORDINATE = 32;
const OCTET_STRING = 0x04;
const UNCOMPRESSED = 0x04;

const sha256Of = (message: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(message).digest());
const itself = (message: Uint8Array): Uint8Array => message;

/** CKA_EC_POINT is an OCTET STRING of the point; some modules leave its two bytes out. */
function pointOf(attribute: Uint8Array, length: number): Uint8Array {
  const wrapped = attribute[0] === OCTET_STRING && attribute[1] === length && attribute.length === length + 2;
  const point = wrapped ? attribute.subarray(2) : attribute;
  if (point.length !== length) throw new TypeError('the module shows no uncompressed public key');
  return point;
}

function ecKind(crv: 'P-256' | 'secp256k1', curve: string): Omit<KeyMechanism, 'input'> {
  return {
    generate: CKM.ecKeyPairGen,
    publicTemplate: [[CKA.ecParams, fromHex(curve)]],
    sign: CKM.ecdsa,
    async publicJwk(attribute) {
      const point = pointOf(await attribute(CKA.ecPoint), 1 + 2 * COORDINATE);
      if (point[0] !== UNCOMPRESSED) throw new TypeError('the module shows no uncompressed public key');
      const [x, y] = [point.subarray(1, 1 + COORDINATE), point.subarray(1 + COORDINATE)];
      return { kty: 'EC', crv, x: toBase64Url(x), y: toBase64Url(y) };
    },
  };
}

/** By the algorithm of a key (JOSE's name). Curves are named by their object identifiers in DER. */
export const KEY_MECHANISMS: Readonly<Record<string, KeyMechanism>> = {
  ES256: { ...ecKind('P-256', '06082a8648ce3d030107'), input: sha256Of },
  ES256K: { ...ecKind('secp256k1', '06052b8104000a'), input: itself, output: recoverable },
  EdDSA: {
    generate: CKM.edwardsKeyPairGen,
    publicTemplate: [[CKA.ecParams, fromHex('06032b6570')]],
    sign: CKM.eddsa,
    sameEachTime: true,
    async publicJwk(attribute) {
      return { kty: 'OKP', crv: 'Ed25519', x: toBase64Url(pointOf(await attribute(CKA.ecPoint), COORDINATE)) };
    },
    input: itself,
  },
  RS256: {
    generate: CKM.rsaKeyPairGen,
    publicTemplate: [
      [CKA.modulusBits, 2048n],
      [CKA.publicExponent, fromHex('010001')],
    ],
    sign: CKM.sha256RsaPkcs,
    async publicJwk(attribute) {
      const number = async (type: bigint) => toBase64Url(withoutLeadingZeros(await attribute(type)));
      return { kty: 'RSA', n: await number(CKA.modulus), e: await number(CKA.publicExponent) };
    },
    input: itself,
  },
};

function withoutLeadingZeros(number: Uint8Array): Uint8Array {
  return number.subarray(number.findIndex((byte) => byte !== 0));
}

/**
 * recovery ‖ r ‖ s with s in the lower half: a module returns any s, and no recovery value to tell the two possible
 * keys apart.
 */
function recoverable(compact: Uint8Array, digest: Uint8Array, jwk: Readonly<Jwk>): Uint8Array {
  const { r, s } = secp256k1.Signature.fromBytes(compact, 'compact');
  const order = secp256k1.Point.Fn.ORDER;
  const low = new secp256k1.Signature(r, s > order / 2n ? order - s : s);
  const point = concatBytes(Uint8Array.of(UNCOMPRESSED), fromBase64(jwk['x']!), fromBase64(jwk['y']!));
  for (const recovery of [0, 1]) {
    const signature = low.addRecoveryBit(recovery);
    if (equalBytes(signature.recoverPublicKey(digest).toBytes(false), point)) return signature.toBytes('recovered');
  }
  throw new TypeError('the module’s signature is not its key’s');
}
