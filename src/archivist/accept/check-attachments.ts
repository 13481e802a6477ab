import { permits } from '../../iam/access/permits.js';
import type { Tx } from '../../platform/postgres/database.js';
import { type Attachment, attachedBlobId, attachmentsOf, checkAttachment } from '../attachments/attachment.js';
import type { Blob } from '../blobs/blob.js';
import { findBlobs } from '../blobs/blob-store.js';
import type { Submission } from './submission.js';

/** A blob of the tenancy, among those that were looked up for this batch. */
export type FindBlob = (tenantId: string, blobId: string) => Blob | undefined;

/** Looks up every blob that these submissions attach, in one statement. Runs no query when they attach nothing. */
export async function attachedBlobs(tx: Tx, submissions: readonly Submission[]): Promise<FindBlob> {
  const wanted = submissions.flatMap((submission) =>
    attachmentsOfSubmission(submission).flatMap((attachment) => {
      const blobId = attachedBlobId(attachment);
      return blobId === undefined ? [] : [{ tenantId: submission.principal.tenantId, blobId }];
    }),
  );
  const unique = new Map(wanted.map((each) => [`${each.tenantId}/${each.blobId}`, each]));
  const found = new Map<string, Blob>();
  for (const blob of await findBlobs(tx, [...unique.values()])) found.set(`${blob.tenantId}/${blob.blobId}`, blob);
  return (tenantId, blobId) => found.get(`${tenantId}/${blobId}`);
}

/**
 * Requires every attachment to carry the hash of a blob that the principal may read, because attaching a blob shares it
 * with every reader of the asset.
 * @throws {ApiError} bad_request naming the field
 */
export function checkAttachments(submission: Submission, find: FindBlob): void {
  const { principal } = submission;
  for (const attachment of attachmentsOfSubmission(submission)) {
    const blobId = attachedBlobId(attachment);
    const blob = blobId === undefined ? undefined : find(principal.tenantId, blobId);
    const readable = blob && permits(principal, 'read', { kind: 'blob', ...blob });
    checkAttachment(attachment, readable ? blob : undefined);
  }
}

function attachmentsOfSubmission(submission: Submission): Attachment[] {
  if (submission.kind === 'registration') return [];
  if (submission.kind !== 'asset_event') return attachmentsOf(submission.attributes, 'attributes');
  return [
    ...attachmentsOf(submission.eventAttributes, 'event_attributes'),
    ...attachmentsOf(submission.assetAttributes, 'asset_attributes'),
  ];
}
