import { access, constants } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { makeFolder } from './durable-file.js';
import { fileObjectStore } from './file-object-store.js';
import type { ObjectStore } from './object-store.js';
import { readS3Url, type S3Place, type S3Url } from './s3/s3-place.js';

/** Where a deployment keeps its objects. */
export type ObjectStorePlace = { readonly folder: string } | S3Place;

/** A folder, given as a file URL, or a bucket. */
export const objectStoreUrl = z.string().transform((text, context): { readonly folder: string } | S3Url => {
  if (text.startsWith('file:///') && URL.canParse(text)) return { folder: fileURLToPath(text) };
  const bucket = readS3Url(text);
  if (bucket) return bucket;
  const form = text.startsWith('s3:')
    ? 's3://<bucket> or s3://<bucket>/<path>; a bucket is named by 3 to 63 lower-case letters, digits, "." and "-"'
    : 'a URL that begins with file:/// or s3://';
  context.addIssue(`must be ${form}`);
  return z.NEVER;
});

/** Opens an object store. What a server would refuse is found with the first call. */
export async function openObjectStore(place: ObjectStorePlace): Promise<ObjectStore> {
  if ('folder' in place) return fileObjectStore(place.folder);
  const { s3ObjectStore } = await import('./s3/s3-object-store.js');
  return s3ObjectStore(place);
}

/**
 * Makes an object store ready to be written: makes its folder, and tries its server.
 * @throws {Error} if it cannot be written, or its server cannot create without replacing
 */
export async function prepareObjectStore(place: ObjectStorePlace): Promise<void> {
  if ('folder' in place) return prepareFolder(place.folder);
  await prepareFolder(place.uploadsDir);
  const { requireCreateOnly } = await import('./s3/s3-object-store.js');
  return requireCreateOnly(place);
}

/** Creates the folder if it does not exist. @throws when it is not writable */
export async function prepareFolder(folder: string): Promise<void> {
  await makeFolder(folder);
  await access(folder, constants.W_OK | constants.X_OK);
}
