import { fromBase64 } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { Algorithm } from './labels.js';

/** A public key of an elliptic curve whose signatures we check: coordinates are base64url at full width. */
export type EcPublicJwk = {
  readonly kty: 'EC';
  readonly crv: 'P-256' | 'P-384' | 'P-521';
  readonly x: string;
  readonly y: string;
  readonly kid?: string;
  readonly alg?: string;
};

/** An Ed25519 public key (RFC 8037). */
export type OkpPublicJwk = {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid?: string;
  readonly alg?: string;
};

/** A public key that can sign evidence (RFC 7517), its private members never present. */
export type PublicJwk = EcPublicJwk | OkpPublicJwk;

interface CurveRules {
  readonly kty: PublicJwk['kty'];
  /** Bytes of a coordinate. */
  readonly width: number;
  readonly alg: number;
  readonly algName: string;
}

const CURVES: Readonly<Record<PublicJwk['crv'], CurveRules>> = {
  'P-256': { kty: 'EC', width: 32, alg: Algorithm.es256, algName: 'ES256' },
  'P-384': { kty: 'EC', width: 48, alg: Algorithm.es384, algName: 'ES384' },
  'P-521': { kty: 'EC', width: 66, alg: Algorithm.es512, algName: 'ES512' },
  Ed25519: { kty: 'OKP', width: 32, alg: Algorithm.eddsa, algName: 'EdDSA' },
};

/** What a curve fixes: key type, bytes of a coordinate, the one COSE algorithm and its JOSE name. */
export function curveRules(crv: PublicJwk['crv']): CurveRules {
  return CURVES[crv];
}

function coordinate(value: unknown, width: number): string {
  let bytes: Uint8Array | undefined;
  try {
    bytes = typeof value === 'string' ? fromBase64(value) : undefined;
  } catch {
    bytes = undefined;
  }
  if (bytes?.length !== width) throw new VerificationError('key_invalid', `a key coordinate is not ${width} bytes`);
  return value as string;
}

/**
 * A foreign JWK reduced to its public members, checked for shape; whether the point is on its curve shows when it is
 * used.
 * @throws {VerificationError} `unsupported` for another kind of key, `key_invalid` for a broken one
 */
export function publicJwk(value: unknown): PublicJwk {
  if (typeof value !== 'object' || value === null) throw new VerificationError('key_invalid', 'a key is not an object');
  const { kty, crv, x, y, kid, alg } = value as Record<string, unknown>;
  const rules = typeof crv === 'string' && Object.hasOwn(CURVES, crv) ? CURVES[crv as PublicJwk['crv']] : undefined;
  if (!rules || rules.kty !== kty || (alg !== undefined && alg !== rules.algName && alg !== crv))
    throw new VerificationError(
      'unsupported',
      'a key is neither P-256, P-384, P-521 nor Ed25519 for its usual algorithm',
    );
  const named = {
    ...(typeof kid === 'string' ? { kid } : {}),
    ...(alg === undefined ? {} : { alg: rules.algName }),
  };
  return crv === 'Ed25519'
    ? { kty: 'OKP', crv, x: coordinate(x, rules.width), ...named }
    : {
        kty: 'EC',
        crv: crv as EcPublicJwk['crv'],
        x: coordinate(x, rules.width),
        y: coordinate(y, rules.width),
        ...named,
      };
}
