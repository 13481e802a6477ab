import { z } from 'zod';
import type { PageTemplate } from '../../core/bundle/zip-bundle.js';
import type { Created } from '../../iam/access/owner-and-creator.js';
import { permits } from '../../iam/access/permits.js';
import type { Principal } from '../../platform/http/principal.js';
import { type Reply, type Route, route } from '../../platform/http/route.js';
import { taggedReply } from '../../platform/http/tagged-reply.js';
import type { Tx } from '../../platform/postgres/database.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { requirePublicEvent, seeAssetEvent } from '../events/read-asset-events.js';
import { requireAssetFreeEvent } from '../events/read-asset-free-event.js';
import { publicByIdScope, type ReadDeps, readByIdScope } from '../read-scope.js';
import { entryProof, type Proof, type ProofSource, type ProvenEvent, requireWhole } from './entry-proofs.js';
import { type EvidenceKeys, evidenceBundle } from './evidence-bundle.js';
import { gatherEvidence } from './gather-evidence.js';
import { createKeptProofs, type KeptProof, type KeptProofs, type ProofAddress } from './kept-proofs.js';
import { onceStatementLogFollows } from './statement-log-behind.js';

/** One kind of proof, and how it is made from an event that the caller may see. */
interface ProofKind {
  /** The last part of its path. */
  readonly name: string;
  readonly summary: string;
  readonly contentType: string;
  /** True if it stays as it was issued, unless a key is revoked: then it is kept. */
  readonly fixed: boolean;
  /** In the caller's download budget, if it is counted there. */
  readonly leastCost?: number;
  readonly query: typeof FORM | typeof PARTS;
  /** Reads what the proof is made of. The answer makes it, after the transaction. */
  read(tx: Tx, proven: ProvenEvent, asked: Asked): Promise<() => Promise<Uint8Array>>;
}

/** An event whose proofs the caller may have, as far as it may read the event. */
interface Found {
  readonly proven: ProvenEvent;
  /** Of the asset, or of the asset-free event. */
  readonly creator: Created;
}

/** A bundle is gathered and compressed for each request, even if the caller has it. */
const BUNDLE_COST = 64 * 1024;

const costOf = ({ leastCost }: ProofKind) => (leastCost === undefined ? {} : { leastCost, longRead: true as const });

const FORM = z.object({ form: z.enum(['map', 'draft']).optional() });
/** A client that reads many bundles needs no page, and each massif once. The seal stays: its path names the massif. */
const PARTS = z.object({ without: z.enum(['page', 'page,massif']).optional() });
const ASSET_EVENT = z.object({ asset_uuid: uuidSchema, uuid: uuidSchema });

export interface ProofDeps extends ReadDeps, ProofSource {
  readonly evidenceKeys: EvidenceKeys;
  /** The page that a bundle gets; undefined where the build has none. */
  evidencePage(): Promise<PageTemplate | undefined>;
}

type RouteDeps = ReadDeps & { readonly kept: () => KeptProofs };
type Headers = Readonly<Record<string, string | undefined>>;

/** What a request asks for: the form of a receipt, or the parts of a bundle. */
interface Asked {
  readonly form: 'map' | 'draft';
  readonly without?: 'page' | 'page,massif' | undefined;
}

/**
 * Proofs under an event's identity: an extension of the interface. All responses are application/cose, except the
 * evidence bundle, which is a zip.
 */
export function proofRoutes(deps: ProofDeps): Route[] {
  const routeDeps = { ...deps, kept: createKeptProofs(deps.keyring) };
  return proofKinds(deps).flatMap((kind) => [
    assetEventProof(routeDeps, kind),
    publicEventProof(routeDeps, kind),
    assetFreeEventProof(routeDeps, kind),
  ]);
}

function proofKinds(deps: ProofDeps): ProofKind[] {
  const { evidenceKeys, evidencePage } = deps;
  const cose = (name: Proof, summary: string): ProofKind => ({
    name,
    summary,
    contentType: 'application/cose',
    fixed: true,
    query: FORM,
    read: async (tx, proven, { form }) => {
      const bytes = await entryProof(tx, deps, proven, name, form);
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
      leastCost: BUNDLE_COST,
      query: PARTS,
      read: async (tx, proven, { without }) => {
        const evidence = await gatherEvidence(tx, deps, proven, { massif: without !== 'page,massif' });
        return async () => evidenceBundle(evidence, evidenceKeys, without ? undefined : await evidencePage());
      },
    },
  ];
}

const NAMED = { 200: ['content-disposition'] } as const;

const operation = ({ name }: ProofKind) => name.replaceAll('-', '');

/** The proof's address in the tenancy whose row the caller sees first, and what the request asks for. */
function addressOf(
  kind: ProofKind,
  tenantId: string,
  params: { readonly asset_uuid?: string; readonly uuid: string },
  { form = 'map', without }: z.output<typeof FORM> & z.output<typeof PARTS>,
): ProofAddress & Asked {
  return { tenantId, assetId: params.asset_uuid, eventId: params.uuid, proof: kind.name, form, without };
}

/**
 * Makes the proof of an event that was found for this caller, or takes the one that was made before. What is kept is
 * only bytes: `find` decides for each caller.
 */
async function made(
  { database, kept }: RouteDeps,
  kind: ProofKind,
  scope: Parameters<ReadDeps['database']['inTransaction']>[0],
  asked: ProofAddress & Asked,
  find: (tx: Tx) => Promise<Found>,
): Promise<Uint8Array> {
  const read = await onceStatementLogFollows(() =>
    database.inTransaction(scope, async (tx) => {
      const { proven, creator } = await find(tx);
      requireWhole(proven);
      const address = { ...asked, tenantId: proven.event.tenantId };
      const { find: findKept, keep } = kept();
      const before = findKept(address);
      if (before) return { bytes: before.bytes };
      const make = await kind.read(tx, proven, asked);
      return { make, keep: (bytes: Uint8Array) => keep(address, { bytes, creator }) };
    }),
  );
  if (!read.make) return read.bytes;
  const bytes = await read.make();
  if (kind.fixed) read.keep(bytes);
  return bytes;
}

/** How the bytes of the proof of an event are sent. */
function sends(
  kind: ProofKind,
  audience: 'private' | 'public',
  { eventId }: ProofAddress,
  requestHeaders: Headers,
): (bytes: Uint8Array) => Reply {
  // Not for ever: it is another one after its key was revoked.
  const age = kind.fixed ? 'max-age=3600' : 'no-cache';
  // A bundle has the name under which the console saves it.
  const fileName = kind.fixed ? `${kind.name}-${eventId}.cose` : `${eventId}.zip`;
  const headers = {
    'cache-control': `${audience}, ${age}`,
    'content-disposition': `attachment; filename="${fileName}"`,
    ...(audience === 'public'
      ? { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'etag, content-disposition' }
      : {}),
  };
  return (bytes) => taggedReply({ bytes, contentType: kind.contentType, headers }, requestHeaders);
}

/** Owners and the creator see the whole asset, now and always: no query can decide otherwise. */
function seesWholeAsset(principal: Principal, { creator }: KeptProof): boolean {
  const { tenantId } = principal;
  return permits(principal, 'manage', { kind: 'asset', tenantId, ...creator, public: false, attributes: {} });
}

function assetEventProof(deps: RouteDeps, kind: ProofKind): Route {
  const { deployment, kept } = deps;
  return route({
    method: 'GET',
    path: `/archivist/v2/assets/:asset_uuid/events/:uuid/${kind.name}`,
    operationId: `Assets_GetEvent_${operation(kind)}`,
    summary: kind.summary,
    access: 'token',
    extension: true,
    success: 200,
    codes: [304, 400, 401, 403, 404, 429],
    params: ASSET_EVENT,
    query: kind.query,
    rawResponse: kind.contentType,
    answerHeaders: NAMED,
    ...costOf(kind),
    handle: async ({ principal, params, query, headers }) => {
      const asked = addressOf(kind, principal.tenantId, params, query);
      const send = sends(kind, 'private', asked, headers);
      const own = kept().find(asked);
      if (own && seesWholeAsset(principal, own)) return send(own.bytes);
      const bytes = await made(deps, kind, readByIdScope(deployment, principal.tenantId), asked, async (tx) => {
        const address = { assetId: params.asset_uuid, eventId: params.uuid };
        const { event, asset } = await seeAssetEvent(tx, principal, address);
        const { creatorIssuer, creatorSubject } = asset;
        return {
          proven: { kind: 'asset_event', event, form: 'assets', assetIsPublic: asset.public },
          creator: { creatorIssuer, creatorSubject },
        };
      });
      return send(bytes);
    },
  });
}

function publicEventProof(deps: RouteDeps, kind: ProofKind): Route {
  const { publicTenancy } = deps.deployment;
  return route({
    method: 'GET',
    path: `/archivist/v2/publicassets/:asset_uuid/events/:uuid/${kind.name}`,
    operationId: `PublicAssets_GetEvent_${operation(kind)}`,
    summary: `${kind.summary} (public asset)`,
    access: 'public',
    extension: true,
    success: 200,
    codes: kind.leastCost === undefined ? [304, 400, 404] : [304, 400, 404, 429],
    params: ASSET_EVENT,
    query: kind.query,
    rawResponse: kind.contentType,
    answerHeaders: NAMED,
    ...costOf(kind),
    handle: async ({ params, query, headers }) => {
      const asked = addressOf(kind, publicTenancy, params, query);
      const send = sends(kind, 'public', asked, headers);
      const before = deps.kept().find(asked);
      if (before) return send(before.bytes);
      const bytes = await made(deps, kind, publicByIdScope({ publicTenancy }), asked, async (tx) => {
        const address = { assetId: params.asset_uuid, eventId: params.uuid };
        const event = await requirePublicEvent(tx, publicTenancy, address);
        return {
          proven: { kind: 'asset_event', event, form: 'publicassets', assetIsPublic: true },
          creator: NOBODY,
        };
      });
      return send(bytes);
    },
  });
}

/** A public form names no creator, and everybody may read it. */
const NOBODY: Created = { creatorIssuer: '', creatorSubject: '' };

function assetFreeEventProof(deps: RouteDeps, kind: ProofKind): Route {
  const { deployment, kept } = deps;
  return route({
    method: 'GET',
    path: `/archivist/v1/events/:uuid/${kind.name}`,
    operationId: `Events_GetEvent_${operation(kind)}`,
    summary: `${kind.summary} (asset-free)`,
    access: 'token',
    extension: true,
    success: 200,
    codes: [304, 400, 401, 403, 404, 429],
    params: z.object({ uuid: uuidSchema }),
    query: kind.query,
    rawResponse: kind.contentType,
    answerHeaders: NAMED,
    ...costOf(kind),
    handle: async ({ principal, params, query, headers }) => {
      const { tenantId } = principal;
      const asked = addressOf(kind, tenantId, params, query);
      const send = sends(kind, 'private', asked, headers);
      const own = kept().find(asked);
      if (own && permits(principal, 'read', { kind: 'asset_free_event', tenantId, ...own.creator }))
        return send(own.bytes);
      const bytes = await made(deps, kind, readByIdScope(deployment, tenantId), asked, async (tx) => {
        const event = await requireAssetFreeEvent(tx, principal, params.uuid);
        const creator = { creatorIssuer: event.creatorIssuer, creatorSubject: event.createdBy };
        return { proven: { kind: 'asset_free_event', event }, creator };
      });
      return send(bytes);
    },
  });
}
