import { GetObjectCommand, HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { equalBytes } from '../../core/bytes.js';
import { ObjectStoreFailed } from '../object-store-failed.js';
import type { ObjectName } from './create-object.js';
import { answered, MISSING } from './s3-client.js';
import type { SpooledContent } from './spooled-content.js';

/** How much of both is compared at a time. */
const PIECE_BYTES = 8 * 1024 * 1024;

/**
 * Whether an object has exactly these bytes. @throws {ObjectStoreFailed} also if there is no such object: the server has
 * said that there is one, or that its upload has ended
 */
export async function hasBytes(client: S3Client, name: ObjectName, content: SpooledContent): Promise<boolean> {
  const head = await answered(client.send(new HeadObjectCommand(name)), MISSING);
  if (!head) throw new ObjectStoreFailed('the server has ended an upload without creating its object');
  if (head.ContentLength !== content.size) return false;
  for (let first = 0; first < content.size; first += PIECE_BYTES) {
    const own = await content.piece(first, PIECE_BYTES);
    const Range = `bytes=${first}-${first + own.length - 1}`;
    const reading = client.send(new GetObjectCommand({ ...name, Range }));
    if (!equalBytes(await answered(reading.then(({ Body }) => Body!.transformToByteArray())), own)) return false;
  }
  return true;
}
