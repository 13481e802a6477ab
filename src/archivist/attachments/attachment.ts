import { ApiError } from '../../platform/errors.js';
import type { Attributes } from '../attributes.js';
import { type Blob, blobHash } from '../blobs/blob.js';

/**
 * A nested attribute with `arc_attribute_type` `arc_attachment` (docs/design/interface.md#attachments-and-blobs), at
 * any depth.
 */
export interface Attachment {
  /** The attribute names and list indexes that lead to it, joined by dots. */
  readonly path: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const IDENTITY = /^blobs\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/**
 * Returns every attachment among attributes, nested ones included. A text that names a blob is not an attachment, nor
 * is an object without the type: these protect content that is stored elsewhere
 * (docs/design/interface.md#existing-clients).
 */
export function attachmentsOf(attributes: Attributes, path: string): Attachment[] {
  const found: Attachment[] = [];
  collect(attributes, path, found);
  return found;
}

function collect(fields: Readonly<Record<string, unknown>>, path: string, found: Attachment[]): void {
  if (fields['arc_attribute_type'] === 'arc_attachment') found.push({ path, fields });
  for (const name in fields) {
    const inner = fields[name];
    if (typeof inner === 'object' && inner !== null) collect(inner as Attachment['fields'], `${path}.${name}`, found);
  }
}

/** The blob that an attachment names; undefined when the identity is missing or malformed. */
export function attachedBlobId({ fields }: Attachment): string | undefined {
  const identity = fields['arc_blob_identity'];
  return typeof identity === 'string' ? IDENTITY.exec(identity)?.[1] : undefined;
}

/** The attachment among these that names this blob. */
export function attachmentNaming(attachments: readonly Attachment[], blobId: string): Attachment | undefined {
  return attachments.find(({ fields }) => fields['arc_blob_identity'] === `blobs/${blobId}`);
}

/**
 * Checks an attachment against the blob that it names; `blob` is undefined when the caller may read no such blob.
 * @throws {ApiError} bad_request naming the field
 */
export function checkAttachment({ path, fields }: Attachment, blob: Blob | undefined): void {
  if (!blob) throw new ApiError('bad_request', `${path}.arc_blob_identity: there is no blob of this identity`);
  if (fields['arc_blob_hash_alg'] !== undefined && fields['arc_blob_hash_alg'] !== 'SHA256')
    throw new ApiError('bad_request', `${path}.arc_blob_hash_alg: must be SHA256`);
  if (fields['arc_blob_hash_value'] !== blobHash(blob))
    throw new ApiError('bad_request', `${path}.arc_blob_hash_value: is not the hash of the blob`);
}
