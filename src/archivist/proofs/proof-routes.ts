import { z } from 'zod';
import type { PageTemplate } from '../../core/bundle/zip-bundle.js';
import { type Reply, type Route, route } from '../../platform/http/route.js';
import type { Tx } from '../../platform/postgres/database.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { findAssets } from '../assets/asset-store.js';
import { requireAssetEvent, requirePublicEvent } from '../events/read-asset-events.js';
import { requireAssetFreeEvent } from '../events/read-asset-free-event.js';
import { type ProvenanceDeps, readScope } from '../provenance-deps.js';
import { entryProof, type Proof, type ProvenEvent } from './entry-proofs.js';
import { type EvidenceKeys, evidenceBundle } from './evidence-bundle.js';
import { gatherEvidence } from './gather-evidence.js';
import { onceStatementLogFollows } from './statement-log-behind.js';

/** One kind of proof, and how it is made from an event that the caller may see. */
interface ProofKind {
  /** The last part of its path. */
  readonly name: string;
  readonly summary: string;
  readonly contentType: string;
  /** True if it never changes once issued. */
  readonly fixed: boolean;
  /** Reads what the proof is made of. The answer makes it, after the transaction. */
  read(tx: Tx, proven: ProvenEvent, form: 'map' | 'draft'): Promise<() => Promise<Uint8Array>>;
}

const FORM = z.object({ form: z.enum(['map', 'draft']).optional() });
const ASSET_EVENT = z.object({ asset_uuid: uuidSchema, uuid: uuidSchema });

interface ProofDeps extends ProvenanceDeps {
  readonly evidenceKeys: EvidenceKeys;
  /** The page that a bundle gets; undefined where the build has none. */
  evidencePage(): Promise<PageTemplate | undefined>;
}

/**
 * Proofs under an event's identity: an extension of the interface. All responses are application/cose, except the
 * evidence bundle, which is a zip.
 */
export function proofRoutes(deps: ProofDeps): Route[] {
  return proofKinds(deps).flatMap((kind) => [
    assetEventProof(deps, kind),
    publicEventProof(deps, kind),
    assetFreeEventProof(deps, kind),
  ]);
}

function proofKinds({ deployment, evidenceKeys, evidencePage }: ProofDeps): ProofKind[] {
  const cose = (name: Proof, summary: string): ProofKind => ({
    name,
    summary,
    contentType: 'application/cose',
    fixed: true,
    read: async (tx, proven, form) => {
      const bytes = await entryProof(tx, deployment, proven, name, form);
      return async () => bytes;
    },
  });
  return [
    cose('receipt', 'Get the Merkle receipt of an event'),
    cose('signed-statement', 'Get the signed statement of an event'),
    cose('transparent-statement', 'Get the transparent statement of an event, which verifies offline'),
    {
      name: 'evidence',
      summary: 'Get all evidence of an event as a zip, with instructions',
      contentType: 'application/zip',
      fixed: false,
      read: async (tx, proven) => {
        const evidence = await gatherEvidence(tx, deployment, proven);
        return async () => evidenceBundle(evidence, evidenceKeys, await evidencePage());
      },
    },
  ];
}

const operation = ({ name }: ProofKind) => name.replaceAll('-', '');

async function answer(
  kind: ProofKind,
  audience: 'private' | 'public',
  read: () => Promise<() => Promise<Uint8Array>>,
): Promise<Reply> {
  const make = await onceStatementLogFollows(read);
  const age = kind.fixed ? 'max-age=31536000, immutable' : 'no-cache';
  return {
    bytes: await make(),
    contentType: kind.contentType,
    headers: {
      'cache-control': `${audience}, ${age}`,
      ...(audience === 'public' ? { 'access-control-allow-origin': '*' } : {}),
    },
  };
}

function assetEventProof(deps: ProvenanceDeps, kind: ProofKind): Route {
  const { deployment } = deps;
  return route({
    method: 'GET',
    path: `/archivist/v2/assets/:asset_uuid/events/:uuid/${kind.name}`,
    operationId: `Assets_GetEvent_${operation(kind)}`,
    summary: kind.summary,
    access: 'token',
    extension: true,
    success: 200,
    codes: [400, 401, 403, 404, 429],
    params: ASSET_EVENT,
    query: FORM,
    rawResponse: kind.contentType,
    handle: ({ principal, params, query }) =>
      answer(kind, 'private', () =>
        deps.database.inTransaction(readScope(deployment, principal.tenantId), async (tx) => {
          const event = await requireAssetEvent(tx, principal, { assetId: params.asset_uuid, eventId: params.uuid });
          const [asset] = await findAssets(tx, [event]);
          const proven = { kind: 'asset_event', event, form: 'assets', assetIsPublic: asset?.public ?? false } as const;
          return kind.read(tx, proven, query.form ?? 'map');
        }),
      ),
  });
}

function publicEventProof(deps: ProvenanceDeps, kind: ProofKind): Route {
  const { deployment } = deps;
  return route({
    method: 'GET',
    path: `/archivist/v2/publicassets/:asset_uuid/events/:uuid/${kind.name}`,
    operationId: `PublicAssets_GetEvent_${operation(kind)}`,
    summary: `${kind.summary} (public asset)`,
    access: 'public',
    extension: true,
    success: 200,
    codes: [400, 404],
    params: ASSET_EVENT,
    query: FORM,
    rawResponse: kind.contentType,
    handle: ({ params, query }) =>
      answer(kind, 'public', () =>
        deps.database.inTransaction({ read: [deployment.publicTenancy], write: [] }, async (tx) => {
          const address = { assetId: params.asset_uuid, eventId: params.uuid };
          const event = await requirePublicEvent(tx, deployment.publicTenancy, address);
          const proven = { kind: 'asset_event', event, form: 'publicassets', assetIsPublic: true } as const;
          return kind.read(tx, proven, query.form ?? 'map');
        }),
      ),
  });
}

function assetFreeEventProof(deps: ProvenanceDeps, kind: ProofKind): Route {
  const { deployment } = deps;
  return route({
    method: 'GET',
    path: `/archivist/v1/events/:uuid/${kind.name}`,
    operationId: `Events_GetEvent_${operation(kind)}`,
    summary: `${kind.summary} (asset-free)`,
    access: 'token',
    extension: true,
    success: 200,
    codes: [400, 401, 403, 404, 429],
    params: z.object({ uuid: uuidSchema }),
    query: FORM,
    rawResponse: kind.contentType,
    handle: ({ principal, params, query }) =>
      answer(kind, 'private', () =>
        deps.database.inTransaction(readScope(deployment, principal.tenantId), async (tx) => {
          const event = await requireAssetFreeEvent(tx, principal, params.uuid);
          const proven = { kind: 'asset_free_event', event } as const;
          return kind.read(tx, proven, query.form ?? 'map');
        }),
      ),
  });
}
