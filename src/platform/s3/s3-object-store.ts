import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import { equalBytes } from '../../core/bytes.js';
import { objectKey } from '../object-key.js';
import type { ObjectStore } from '../object-store.js';
import { ObjectStoreFailed } from '../object-store-failed.js';
import { createObject } from './create-object.js';
import { answered, MISSING, type S3Clients, s3Clients } from './s3-client.js';
import type { S3Place } from './s3-place.js';
import { abortUploads, createUploads } from './s3-upload.js';

/** Created and never removed; creating it again shows that the server never replaces what is only to be created. */
const CREATED_ONCE = '.created-once';
const EMPTY = new Uint8Array();

/**
 * An object store in a bucket of a server that speaks S3. Such a server answers a write when it is durable and shows each
 * object whole; `If-None-Match: *` lets one of two writers create. Staged bytes stay with the caller: a server cannot give
 * an object another name without a copy that could replace one.
 */
export function s3ObjectStore(place: S3Place): ObjectStore {
  const { bucket, prefix } = place;
  const clients = s3Clients(place);
  const { client } = clients;
  const uploads = createUploads(client, place.uploadsDir);
  const named = (name: string) => ({ Bucket: bucket, Key: `${prefix}${name}` });
  const at = (key: string) => named(objectKey(key));

  async function get(key: string): Promise<Uint8Array | undefined> {
    const reading = client.send(new GetObjectCommand(at(key))).then(({ Body }) => Body!.transformToByteArray());
    return answered(reading, MISSING);
  }

  return {
    get,
    has: async (key) => (await answered(client.send(new HeadObjectCommand(at(key))), MISSING)) !== undefined,
    async putNew(key, bytes) {
      if (await createObject(client, at(key), bytes)) return 'created';
      const standing = await get(key);
      return standing && equalBytes(standing, bytes) ? 'same' : 'different';
    },
    async put(key, bytes) {
      await answered(client.send(new PutObjectCommand({ ...at(key), Body: bytes })));
    },
    stage: async (key) => objectKey(key),
    discard: () => Promise.resolve(),
    putStream: async (key, content) => uploads.create(at(key), content),
    async open(key, range) {
      const Range = range && { Range: `bytes=${range.first}-${range.last}` };
      const reading = clients.streaming.send(new GetObjectCommand({ ...at(key), ...Range }));
      // In Node, a body is a stream of Node's.
      return (await answered(reading, MISSING))?.Body as Readable | undefined;
    },
    async remove(key) {
      await answered(client.send(new DeleteObjectCommand(at(key))));
      await abortUploads(client, at(key), (upload) => upload.Key === at(key).Key);
    },
    removeUnfinished: (before) => abortUploads(client, named(''), ({ Initiated }) => Initiated! < before),
    list: (under) => listed(clients, { bucket, prefix }, under),
    async ping() {
      await createObject(client, named(CREATED_ONCE), EMPTY);
    },
  };
}

async function listed(
  { client }: S3Clients,
  { bucket, prefix }: Pick<S3Place, 'bucket' | 'prefix'>,
  under: string,
): Promise<string[]> {
  const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: `${prefix}${under}` });
  const reading = (async () => {
    const keys: string[] = [];
    for await (const { Contents = [] } of pages) for (const { Key } of Contents) keys.push(Key!.slice(prefix.length));
    return keys;
  })();
  // Every server has an order of its own for other characters than ASCII's; a key has none.
  return (await answered(reading)).filter((key) => !key.startsWith('.')).sort();
}

/**
 * Makes sure that the server can be written, and creates without replacing: without that, two sequencers could publish two
 * seals under one number. @throws {ObjectStoreFailed}
 */
export async function requireCreateOnly(place: S3Place): Promise<void> {
  const { client } = s3Clients(place);
  const name = { Bucket: place.bucket, Key: `${place.prefix}${CREATED_ONCE}` };
  await createObject(client, name, EMPTY);
  if (await createObject(client, name, EMPTY))
    throw new ObjectStoreFailed(
      'the server replaces objects that are only to be created (it ignores If-None-Match), so it cannot keep a log from being forked: use a server with conditional writes',
    );
}
