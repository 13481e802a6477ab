import { z } from 'zod';
import { type Route, route } from '../../platform/http/route.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { findAssets } from '../assets/asset-store.js';
import { requireAssetEvent, requirePublicEvent } from '../events/read-asset-events.js';
import { requireAssetFreeEvent } from '../events/read-asset-free-event.js';
import { type ProvenanceDeps, readScope } from '../provenance-deps.js';
import { entryProof, type Proof } from './entry-proofs.js';
import { onceStatementLogFollows } from './statement-log-behind.js';

const PROOFS: readonly { proof: Proof; summary: string }[] = [
  { proof: 'receipt', summary: 'The Merkle receipt of an event in its tenancy log' },
  { proof: 'signed-statement', summary: 'The signed statement made of an event' },
  { proof: 'transparent-statement', summary: 'Statement, receipts and event in one file that verifies offline' },
];
const FORM = z.object({ form: z.enum(['map', 'draft']).optional() });
const ASSET_EVENT = z.object({ asset_uuid: uuidSchema, uuid: uuidSchema });
/** A receipt once issued never changes; without a token nobody may keep it. */
const PRIVATE = { 'cache-control': 'private, max-age=31536000, immutable' };
const PUBLIC = { 'cache-control': 'public, max-age=31536000, immutable', 'access-control-allow-origin': '*' };

/** Proofs under an event's identity: an extension of the interface. All answers are application/cose. */
export function proofRoutes(deps: ProvenanceDeps): Route[] {
  return PROOFS.flatMap(({ proof, summary }) => [
    assetEventProof(deps, proof, summary),
    publicEventProof(deps, proof, summary),
    assetFreeEventProof(deps, proof, summary),
  ]);
}

const name = (proof: Proof) => proof.replaceAll('-', '');

function cose(bytes: Uint8Array, headers: Record<string, string>) {
  return { bytes, contentType: 'application/cose', headers };
}

function assetEventProof(deps: ProvenanceDeps, proof: Proof, summary: string): Route {
  const { deployment } = deps;
  return route({
    method: 'GET',
    path: `/archivist/v2/assets/:asset_uuid/events/:uuid/${proof}`,
    operationId: `Assets_GetEvent_${name(proof)}`,
    summary,
    access: 'token',
    extension: true,
    success: 200,
    codes: [400, 401, 403, 404, 429],
    params: ASSET_EVENT,
    query: FORM,
    rawResponse: 'application/cose',
    handle: ({ principal, params, query }) =>
      onceStatementLogFollows(() =>
        deps.database.inTransaction(readScope(deployment, principal.tenantId), async (tx) => {
          const event = await requireAssetEvent(tx, principal, { assetId: params.asset_uuid, eventId: params.uuid });
          const [asset] = await findAssets(tx, [event]);
          const proven = { kind: 'asset_event', event, form: 'assets', assetIsPublic: asset?.public ?? false } as const;
          return cose(await entryProof(tx, deployment, proven, proof, query.form ?? 'map'), PRIVATE);
        }),
      ),
  });
}

function publicEventProof(deps: ProvenanceDeps, proof: Proof, summary: string): Route {
  const { deployment } = deps;
  return route({
    method: 'GET',
    path: `/archivist/v2/publicassets/:asset_uuid/events/:uuid/${proof}`,
    operationId: `PublicAssets_GetEvent_${name(proof)}`,
    summary: `${summary}, of a public asset`,
    access: 'public',
    extension: true,
    success: 200,
    codes: [400, 404],
    params: ASSET_EVENT,
    query: FORM,
    rawResponse: 'application/cose',
    handle: ({ params, query }) =>
      onceStatementLogFollows(() =>
        deps.database.inTransaction({ read: [deployment.publicTenancy], write: [] }, async (tx) => {
          const address = { assetId: params.asset_uuid, eventId: params.uuid };
          const event = await requirePublicEvent(tx, deployment.publicTenancy, address);
          const proven = { kind: 'asset_event', event, form: 'publicassets', assetIsPublic: true } as const;
          return cose(await entryProof(tx, deployment, proven, proof, query.form ?? 'map'), PUBLIC);
        }),
      ),
  });
}

function assetFreeEventProof(deps: ProvenanceDeps, proof: Proof, summary: string): Route {
  const { deployment } = deps;
  return route({
    method: 'GET',
    path: `/archivist/v1/events/:uuid/${proof}`,
    operationId: `Events_GetEvent_${name(proof)}`,
    summary: `${summary}, asset-free`,
    access: 'token',
    extension: true,
    success: 200,
    codes: [400, 401, 403, 404, 429],
    params: z.object({ uuid: uuidSchema }),
    query: FORM,
    rawResponse: 'application/cose',
    handle: ({ principal, params, query }) =>
      onceStatementLogFollows(() =>
        deps.database.inTransaction(readScope(deployment, principal.tenantId), async (tx) => {
          const event = await requireAssetFreeEvent(tx, principal, params.uuid);
          const proven = { kind: 'asset_free_event', event } as const;
          return cose(await entryProof(tx, deployment, proven, proof, query.form ?? 'map'), PRIVATE);
        }),
      ),
  });
}
