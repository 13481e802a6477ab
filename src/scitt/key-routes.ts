import { z } from 'zod';
import { encodeCoseKeySet } from '../core/cose/cose-key.js';
import { issuerDid, serviceDid } from '../core/statement/issuer-did.js';
import { readPublicTenancy } from '../iam/tenancies/tenancy-self.js';
import { type Route, route } from '../platform/http/route.js';
import type { Keyring, PublishedKey } from '../platform/keys/keyring.js';
import type { Database } from '../platform/postgres/database.js';
import { uuidSchema } from '../platform/uuid-schema.js';
import { DID_PATH, didDocument, didDocumentSchema, TENANCY_DID_PATH } from './did.js';
import { problemDetails } from './problem-details.js';
import { NEWEST_KEYS } from './published-headers.js';

/** A JWK set (RFC 7517); which members a key has depends on its type. */
export const jwkSetSchema = z.object({ keys: z.array(z.record(z.string(), z.unknown())) });

interface KeyDeps {
  readonly keyring: Keyring;
  readonly publicUrl: string;
  readonly database: Database;
}

type EvidenceKeys = ReturnType<typeof evidenceKeys>;

/**
 * Our public keys, including retired ones: log and seal keys as a COSE key set (SCRAPI), issuer keys as a did:web
 * document, token and issuer keys as a JWK set (RFC 7517). Older clients find receipt keys in another place, too
 * (discovery-routes.ts).
 */
export function keyRoutes(deps: KeyDeps): Route[] {
  const keys = evidenceKeys(deps);
  return [...keySetRoutes(keys, deps.keyring), ...didRoutes(keys, deps.database)];
}

function keySetRoutes(keys: EvidenceKeys, keyring: Keyring): Route[] {
  return [
    route({
      method: 'GET',
      path: '/.well-known/scitt-keys',
      operationId: 'Scitt_GetKeys',
      summary: 'Get the keys of receipts and seals (COSE key set)',
      access: 'public',
      extension: true,
      success: 200,
      codes: [],
      rawResponse: 'application/cbor',
      refusal: problemDetails(),
      handle: async () => ({
        bytes: keys.logKeys(),
        contentType: 'application/cbor',
        headers: NEWEST_KEYS,
      }),
    }),
    route({
      method: 'GET',
      path: '/.well-known/jwks.json',
      operationId: 'Keys_GetJwks',
      summary: 'Get the keys of access tokens and statements (JWK set)',
      access: 'public',
      extension: true,
      success: 200,
      codes: [],
      response: jwkSetSchema,
      handle: async () => ({
        body: { keys: keyring.publicKeys(['token', 'issuer']).map(jwkSetMember) },
        headers: NEWEST_KEYS,
      }),
    }),
  ];
}

function didRoutes(keys: EvidenceKeys, database: Database): Route[] {
  return [
    route({
      method: 'GET',
      path: DID_PATH,
      operationId: 'DIDWeb_GetDID',
      summary: 'Get the DID document of the service, with its statement keys',
      access: 'public',
      success: 200,
      codes: [404],
      response: didDocumentSchema,
      handle: async () => ({
        body: keys.serviceDocument(),
        headers: NEWEST_KEYS,
      }),
    }),
    route({
      method: 'GET',
      path: TENANCY_DID_PATH,
      operationId: 'DIDWeb_GetTenancyDID',
      summary: 'Get the DID document of a tenancy’s issuer',
      access: 'public',
      extension: true,
      success: 200,
      codes: [400, 404],
      params: z.object({ uuid: uuidSchema }),
      response: didDocumentSchema,
      handle: async ({ params }) => {
        await readPublicTenancy(database, params.uuid);
        return { body: keys.issuerDocument(params.uuid), headers: NEWEST_KEYS };
      },
    }),
  ];
}

/** The keys that verify evidence, in their published forms. */
export function evidenceKeys({ keyring, publicUrl }: { keyring: Pick<Keyring, 'publicKeys'>; publicUrl: string }) {
  const documentOf = (did: string) => didDocument(did, keyring.publicKeys(['issuer']));
  return {
    logKeys: () => encodeCoseKeySet(keyring.publicKeys(['statement_receipt', 'seal']).map((key) => key.jwk)),
    serviceDocument: () => documentOf(serviceDid(publicUrl)),
    issuerDocument: (tenantId: string) => documentOf(issuerDid(publicUrl, tenantId)),
  };
}

/** A key as a member of a JWK set. */
export function jwkSetMember(key: PublishedKey): Record<string, unknown> {
  return { ...key.jwk, kid: key.keyId, use: 'sig', alg: key.algorithm };
}
