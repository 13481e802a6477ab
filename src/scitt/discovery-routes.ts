import { z } from 'zod';
import { fromBase64, toBase64Url } from '../core/bytes.js';
import { EVIDENCE_ALGORITHMS } from '../core/cose/algorithms.js';
import { type CborMap, encodeCbor } from '../core/cose/cbor.js';
import { coseKeyFromJwk, keyThumbprint } from '../core/cose/cose-key.js';
import { ApiError } from '../platform/errors.js';
import { type Route, route } from '../platform/http/route.js';
import type { Keyring } from '../platform/keys/keyring.js';
import { asksForJson } from './asks-for-json.js';
import { jwkSetMember, jwkSetSchema } from './key-routes.js';
import { problemDetails } from './problem-details.js';
import { NEWEST_KEYS } from './published-headers.js';

const NEGOTIATED = { ...NEWEST_KEYS, vary: 'accept' };

export interface DiscoveryDeps {
  readonly keyring: Pick<Keyring, 'publicKeys'>;
  readonly publicUrl: string;
}

/** One key of receipts and seals by its kid (SCRAPI 2.2): the thumbprint in base64url. */
export function keyByKidRoute({ keyring }: DiscoveryDeps): Route {
  return route({
    method: 'GET',
    path: '/.well-known/scitt-keys/:kid',
    operationId: 'Scitt_GetKey',
    summary: 'Get one key of receipts or seals, active or retired',
    access: 'public',
    extension: true,
    success: 200,
    codes: [404],
    params: z.object({ kid: z.string() }),
    rawResponse: 'application/cbor',
    refusal: problemDetails('No such key'),
    handle: async ({ params }) => {
      const keys = keyring.publicKeys(['statement_receipt', 'seal']);
      const key = keys.find(({ jwk }) => toBase64Url(keyThumbprint(jwk)) === canonical(params.kid));
      if (!key) throw new ApiError('not_found', 'There is no key with this kid.');
      const bytes = encodeCbor(coseKeyFromJwk(key.jwk, keyThumbprint(key.jwk)));
      return { bytes, contentType: 'application/cbor', headers: NEWEST_KEYS };
    },
  });
}

/** Normalises a kid with or without padding. */
function canonical(kid: string): string | undefined {
  try {
    return toBase64Url(fromBase64(kid));
  } catch {
    return undefined;
  }
}

const configurationSchema = z.strictObject({
  issuer: z.string(),
  base_url: z.string(),
  registration_endpoint: z.string(),
  bulk_registration_endpoint: z.string().optional(),
  receipt_endpoint: z.string(),
  jwks_uri: z.string(),
  supported_signature_algorithms: z.array(z.string()),
});

/**
 * The documents that older clients read before they register: a configuration as a CBOR map, and the receipt keys as a
 * JWK set, active key first.
 * @param at path prefix of the registration, empty for the root, the only one with bulk registration
 */
export function configurationRoutes({ keyring, publicUrl }: DiscoveryDeps, at: string, name: string): Route[] {
  const base = `${publicUrl}${at}`;
  const configuration: CborMap = new Map<string, string | string[]>([
    ['issuer', base],
    ['base_url', base],
    ['registration_endpoint', `${base}/entries`],
    ...(at === '' ? [['bulk_registration_endpoint', `${base}/entries:bulk`] as const] : []),
    ['receipt_endpoint', `${base}/entries`],
    ['jwks_uri', `${base}/jwks`],
    ['supported_signature_algorithms', EVIDENCE_ALGORITHMS.map((algorithm) => algorithm.name)],
  ]);
  return [
    route({
      method: 'GET',
      path: `${at}/.well-known/transparency-configuration`,
      operationId: `${name}_GetTransparencyConfiguration`,
      summary: 'Get the service configuration: where to register, where to find keys (CBOR, or JSON on request)',
      access: 'public',
      extension: true,
      success: 200,
      codes: [],
      rawResponse: ['application/cbor', 'application/json'],
      response: configurationSchema,
      refusal: problemDetails(),
      handle: async ({ headers }) =>
        asksForJson(headers['accept'])
          ? { body: Object.fromEntries(configuration), headers: NEGOTIATED }
          : { bytes: encodeCbor(configuration), contentType: 'application/cbor', headers: NEGOTIATED },
    }),
    route({
      method: 'GET',
      path: `${at}/jwks`,
      operationId: `${name}_GetReceiptKeys`,
      summary: 'Get the keys of statement-log receipts (JWK set), active key first',
      access: 'public',
      extension: true,
      success: 200,
      codes: [],
      response: jwkSetSchema,
      handle: async () => ({
        body: { keys: keyring.publicKeys(['statement_receipt']).map(jwkSetMember) },
        headers: NEWEST_KEYS,
      }),
    }),
  ];
}
