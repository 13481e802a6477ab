import { z } from 'zod';
import { equalBytes } from '../core/bytes.js';
import { keyThumbprint } from '../core/cose/cose-key.js';
import { readKeyManifest } from '../core/keys/read-key-manifest.js';
import { encodeKeyManifests } from '../core/keys/verify-key-manifests.js';
import { ApiError } from '../platform/errors.js';
import { type Route, route } from '../platform/http/route.js';
import { listKeyManifests } from '../platform/keys/manifest/key-manifest-store.js';
import type { KeyManifests } from '../platform/keys/manifest/key-manifests.js';
import type { Database } from '../platform/postgres/database.js';
import { FOREVER, NEWEST_KEYS } from './published-headers.js';

export interface ManifestRouteDeps {
  readonly database: Database;
  readonly manifests: Pick<KeyManifests, 'current'>;
  readonly deployment: { readonly deploymentTenancy: string };
}

const CBOR = 'application/cbor';
const PAGE = 1000;

/** Returns the file that evidence includes: every manifest that rotated the root key, then the newest manifest. */
export function createManifestFile(deps: ManifestRouteDeps): () => Promise<Uint8Array> {
  let made: { readonly of: Uint8Array; readonly file: Uint8Array } | undefined;
  return async () => {
    const { bytes } = deps.manifests.current;
    if (made?.of !== bytes) made = { of: bytes, file: encodeKeyManifests([...(await rotations(deps)), bytes]) };
    return made.file;
  };
}

/** Stored manifests before the newest that name a different root key than the one that signed them. */
async function rotations({ database, manifests, deployment }: ManifestRouteDeps): Promise<Uint8Array[]> {
  const { deploymentTenancy } = deployment;
  const newest = BigInt(manifests.current.manifest.number);
  const found: Uint8Array[] = [];
  for (let from = 1n; from < newest; from += BigInt(PAGE)) {
    const rows = await database.inTransaction({ read: [deploymentTenancy], write: [] }, (tx) =>
      listKeyManifests(tx, deploymentTenancy, from, PAGE),
    );
    const before = rows.filter(({ number }) => number < newest && number < from + BigInt(PAGE));
    found.push(...before.map(({ manifest }) => manifest).filter(rotatesRoot));
  }
  return found;
}

/** A row whose bytes are not a manifest was tampered with: it is left out here, and the audit reports it. */
function rotatesRoot(bytes: Uint8Array): boolean {
  try {
    const { manifest, signer } = readKeyManifest(bytes);
    return !equalBytes(keyThumbprint(manifest.root), keyThumbprint(signer));
  } catch {
    return false;
  }
}

/** The key manifests. A verifier that knows the root key's fingerprint gets every other key from them. */
export function manifestRoutes(deps: ManifestRouteDeps, file: () => Promise<Uint8Array>): Route[] {
  const common = { method: 'GET', access: 'public', extension: true, success: 200, rawResponse: CBOR } as const;
  return [
    route({
      ...common,
      path: '/verifiabledata/keys/manifest',
      operationId: 'KeyManifests_GetNewest',
      summary: 'Get the newest key manifest and every root rotation before it (CBOR array)',
      codes: [],
      handle: async () => ({ bytes: await file(), contentType: CBOR, headers: NEWEST_KEYS }),
    }),
    route({
      ...common,
      path: '/verifiabledata/keys/manifests/:number',
      operationId: 'KeyManifests_GetOne',
      summary: 'Get a key manifest by number',
      codes: [400, 404],
      params: z.object({ number: z.string().regex(/^[1-9]\d{0,15}$/, 'must be a number from 1') }),
      handle: async ({ params }) => {
        const number = BigInt(params.number);
        const { deployment, manifests } = deps;
        const { deploymentTenancy } = deployment;
        const scope = { read: [deploymentTenancy], write: [] };
        const [row] = await deps.database.inTransaction(scope, (tx) =>
          listKeyManifests(tx, deploymentTenancy, number, 1),
        );
        if (row?.number !== number || number > BigInt(manifests.current.manifest.number))
          throw new ApiError('not_found', 'There is no key manifest with this number.');
        return { bytes: row.manifest, contentType: CBOR, headers: FOREVER };
      },
    }),
  ];
}
