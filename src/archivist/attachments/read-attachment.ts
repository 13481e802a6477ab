import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Scope, Tx } from '../../platform/postgres/database.js';
import { requireAsset, requirePublicAsset } from '../assets/read-assets.js';
import type { Blob } from '../blobs/blob.js';
import type { BlobDeps } from '../blobs/blob-deps.js';
import { findBlob } from '../blobs/read-blob.js';
import type { Deployment } from '../deployment.js';
import { requireAssetEvent, requirePublicEvent } from '../events/read-asset-events.js';
import { publicByIdScope, readByIdScope } from '../read-scope.js';
import { type Attachment, attachmentNaming, attachmentsOf } from './attachment.js';

export interface AttachmentDeps extends BlobDeps {
  readonly deployment: Deployment;
}

/** A blob as named by an asset now, or by one of its events. */
export interface AttachmentAddress {
  readonly assetId: string;
  readonly eventId?: string;
  readonly blobId: string;
}

/** A blob and the attribute that names it. */
export interface AttachedBlob {
  readonly blob: Blob;
  readonly attachment: Attachment;
}

/** Where the blob is named: the attributes that the caller may read, and the tenancy that owns the blob. */
interface Naming {
  readonly attachments: readonly Attachment[];
  readonly tenantId: string;
}

/** Returns an attachment of an asset or event that the principal may read. @throws {ApiError} not_found */
export function readAttachment(
  deps: AttachmentDeps,
  principal: Principal,
  address: AttachmentAddress,
): Promise<AttachedBlob> {
  const { assetId, eventId } = address;
  return attachedBlob(deps, readByIdScope(deps.deployment, principal.tenantId), address, async (tx) =>
    eventId === undefined
      ? namedByAsset(await requireAsset(tx, principal, assetId))
      : namedByEvent(await requireAssetEvent(tx, principal, { assetId, eventId })),
  );
}

/** Returns an attachment of a public asset or of its event, without a token. @throws {ApiError} not_found */
export function readPublicAttachment(deps: AttachmentDeps, address: AttachmentAddress): Promise<AttachedBlob> {
  const { publicTenancy } = deps.deployment;
  const { assetId, eventId } = address;
  return attachedBlob(deps, publicByIdScope(deps.deployment), address, async (tx) =>
    eventId === undefined
      ? namedByAsset(await requirePublicAsset(tx, publicTenancy, assetId))
      : namedByEvent(await requirePublicEvent(tx, publicTenancy, { assetId, eventId })),
  );
}

async function attachedBlob(
  deps: AttachmentDeps,
  scope: Scope,
  { blobId }: AttachmentAddress,
  naming: (tx: Tx) => Promise<Naming>,
): Promise<AttachedBlob> {
  const { attachments, tenantId } = await deps.database.inTransaction(scope, naming);
  const attachment = attachmentNaming(attachments, blobId);
  const blob = attachment && (await findBlob(deps, { tenantId, blobId }));
  if (!blob) throw new ApiError('not_found', 'There is no such attachment.');
  return { blob, attachment };
}

function namedByAsset(asset: Awaited<ReturnType<typeof requireAsset>>): Naming {
  return { attachments: attachmentsOf(asset.attributes, 'attributes'), tenantId: asset.originTenantId };
}

function namedByEvent(event: Awaited<ReturnType<typeof requireAssetEvent>>): Naming {
  const attachments = [
    ...attachmentsOf(event.eventAttributes, 'event_attributes'),
    ...attachmentsOf(event.assetAttributes, 'asset_attributes'),
  ];
  return { attachments, tenantId: event.originTenantId };
}
