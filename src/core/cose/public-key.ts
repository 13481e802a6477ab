import { fromBase64, toBase64Url } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { CURVES, type Curve, EVIDENCE_ALGORITHMS } from './algorithms.js';
import { RSA_ALGORITHMS, type RsaPublicJwk, rsaNumbers } from './rsa-key.js';

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

/** A public key that can sign evidence (RFC 7517). It never has private members. */
export type PublicJwk = EcPublicJwk | OkpPublicJwk | RsaPublicJwk;

export type CurveName = EcPublicJwk['crv'] | OkpPublicJwk['crv'];

/** The supported kinds of keys, as error messages name them. */
export const KNOWN_KEYS = 'P-256, P-384, P-521, Ed25519 or RSA of 2048 to 8192 bits';

interface CurveRules extends Curve {
  /** The one COSE algorithm of its keys under its usual number, and the algorithm's JOSE name. */
  readonly alg: number;
  readonly algName: string;
  /** Every number of that algorithm, and every name. */
  readonly numbers: readonly number[];
  readonly names: readonly string[];
}

function rulesOf(curve: CurveName): CurveRules {
  const algorithms = EVIDENCE_ALGORITHMS.filter((each) => 'curve' in each && each.curve === curve);
  const [numbers, names] = [algorithms.map(({ number }) => number), algorithms.map(({ name }) => name)];
  return { ...CURVES[curve], alg: numbers[0]!, algName: names[0]!, numbers, names };
}

const RULES: Readonly<Record<CurveName, CurveRules>> = {
  'P-256': rulesOf('P-256'),
  'P-384': rulesOf('P-384'),
  'P-521': rulesOf('P-521'),
  Ed25519: rulesOf('Ed25519'),
};

/** The curves of keys that sign evidence. */
export const CURVE_NAMES = Object.keys(RULES) as readonly CurveName[];

/** Returns the algorithms of a curve, and the width of its coordinates. */
export function curveRules(crv: CurveName): CurveRules {
  return RULES[crv];
}

/**
 * Returns the COSE numbers of the algorithms that a key may sign with: those of its curve, those of RSASSA-PSS, or the
 * one that it names.
 */
export function keyAlgorithms(key: PublicJwk): readonly number[] {
  if (key.kty !== 'RSA') return curveRules(key.crv).numbers;
  return key.alg === undefined ? Object.values(RSA_ALGORITHMS) : [RSA_ALGORITHMS[key.alg]!];
}

function coordinate(value: unknown, width: number): string {
  let bytes: Uint8Array | undefined;
  try {
    bytes = typeof value === 'string' ? fromBase64(value) : undefined;
  } catch {
    bytes = undefined;
  }
  if (bytes?.length !== width) throw new VerificationError('key_invalid', `a key coordinate is not ${width} bytes`);
  // In its one spelling: Chromium takes no padding, OpenSSL does.
  return toBase64Url(bytes);
}

/**
 * Refuses a key whose list of operations leaves signatures out: a key for key agreement or encryption can have the same
 * form (RFC 7517 section 4.3, RFC 9052 section 7.1).
 * @param operations those that the key lists; a key without a list is for all
 * @param verify the number of the operation, which may be listed in place of its name
 * @throws {VerificationError} `unsupported`
 */
export function requireVerifies(operations: unknown = ['verify'], verify: unknown = 'verify'): void {
  if (!Array.isArray(operations) || !operations.some((each) => each === 'verify' || each === verify))
    throw unsupportedKey();
}

/**
 * Returns the public members of a JWK from elsewhere, after a check of their form. Whether the point is on its curve is
 * checked when the key is used.
 * @throws {VerificationError} `unsupported` for another kind of key or one that is not for signatures, `key_invalid` for
 *   a broken one
 */
export function publicJwk(value: unknown): PublicJwk {
  if (typeof value !== 'object' || value === null) throw new VerificationError('key_invalid', 'a key is not an object');
  const jwk = value as Record<string, unknown>;
  if (jwk['use'] !== undefined && jwk['use'] !== 'sig') throw unsupportedKey();
  requireVerifies(jwk['key_ops']);
  return jwk['kty'] === 'RSA' ? rsaJwk(jwk) : curveJwk(jwk);
}

/** Returns the refusal of a key of another kind, or for another use. */
export function unsupportedKey(): VerificationError {
  return new VerificationError('unsupported', `a key is not ${KNOWN_KEYS}, for signatures by its usual algorithm`);
}

function named({ kid }: Readonly<Record<string, unknown>>, alg: string | undefined) {
  return { ...(typeof kid === 'string' ? { kid } : {}), ...(alg === undefined ? {} : { alg }) };
}

function rsaJwk(jwk: Readonly<Record<string, unknown>>): RsaPublicJwk {
  const { n, e, alg } = jwk;
  if (alg !== undefined && !(typeof alg === 'string' && Object.hasOwn(RSA_ALGORITHMS, alg))) throw unsupportedKey();
  return { kty: 'RSA', ...rsaNumbers(n, e), ...named(jwk, alg) };
}

function curveJwk(jwk: Readonly<Record<string, unknown>>): EcPublicJwk | OkpPublicJwk {
  const { kty, crv, x, y, alg } = jwk;
  const rules = typeof crv === 'string' && Object.hasOwn(RULES, crv) ? RULES[crv as CurveName] : undefined;
  if (!rules || rules.kty !== kty || (alg !== undefined && !rules.names.includes(alg as string)))
    throw unsupportedKey();
  const names = named(jwk, alg === undefined ? undefined : rules.algName);
  return crv === 'Ed25519'
    ? { kty: 'OKP', crv, x: coordinate(x, rules.width), ...names }
    : {
        kty: 'EC',
        crv: crv as EcPublicJwk['crv'],
        x: coordinate(x, rules.width),
        y: coordinate(y, rules.width),
        ...names,
      };
}
