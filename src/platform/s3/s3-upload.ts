import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  type MultipartUpload,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { CREATE_ONLY, createObject, EXISTS, type ObjectName } from './create-object.js';
import { answered } from './s3-client.js';
import { spool } from './spooled-content.js';
import { hasBytes } from './standing-object.js';

/** A server takes 10,000 parts: objects of 80 GB. */
const PART_BYTES = 8 * 1024 * 1024;
/** AWS refuses parts with another checksum than the upload names, and the SDK adds this one. Its last request has all of them. */
const CHECKED = { ChecksumAlgorithm: 'CRC32' } as const;
/** Parts of all uploads that are in memory at the same time, whatever the number of uploads and the haste of their clients. */
const PARTS_AT_ONCE = 4;

/** Creates objects from streams. */
interface Uploads {
  /**
   * Nobody sees an object before its last part is stored; if the stream fails, nothing is stored. What a killed process
   * leaves is for `abortUploads`.
   * @throws what the stream throws; {Error} when the object exists with other bytes; {ObjectStoreFailed}
   */
  create(name: ObjectName, content: AsyncIterable<Uint8Array>): Promise<{ size: number }>;
}

/** @param folder where content waits until all of it has come: how fast it comes is the client's to say */
export function createUploads(client: S3Client, folder: string): Uploads {
  const inTurn = turns(PARTS_AT_ONCE);
  return {
    async create(name, content) {
      const spooled = await spool(folder, content);
      try {
        const part = (first: number) => spooled.piece(first, PART_BYTES);
        const isCreated =
          spooled.size <= PART_BYTES
            ? await inTurn(async () => createObject(client, name, await part(0)))
            : await createInParts(client, name, async (store) => {
                for (let first = 0; first < spooled.size; first += PART_BYTES)
                  await inTurn(async () => store(await part(first)));
              });
        // If the server's answer is lost, the SDK asks again, and hears that there is such an object.
        if (!isCreated && !(await inTurn(() => hasBytes(client, name, spooled))))
          throw new Error('an object with this key already exists');
        return { size: spooled.size };
      } finally {
        await spooled.close();
      }
    },
  };
}

/** Runs so many pieces of work at the same time; others wait in turn. */
function turns(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running === most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** Returns false if there is such an object, or if the upload has ended already. */
async function createInParts(
  client: S3Client,
  name: ObjectName,
  storeParts: (store: (part: Uint8Array) => Promise<void>) => Promise<void>,
): Promise<boolean> {
  const { UploadId } = await answered(client.send(new CreateMultipartUploadCommand({ ...name, ...CHECKED })));
  const upload = { ...name, UploadId };
  const stored: CompletedPart[] = [];
  let isCreated = false;
  try {
    await storeParts(async (part) => {
      const PartNumber = stored.length + 1;
      const sending = client.send(new UploadPartCommand({ ...upload, ...CHECKED, PartNumber, Body: part }));
      const { ETag, ChecksumCRC32 } = await answered(sending);
      stored.push({ ETag, ChecksumCRC32, PartNumber });
    });
    const whole = { ...upload, ...CREATE_ONLY, MultipartUpload: { Parts: stored } };
    const completing = client.send(new CompleteMultipartUploadCommand(whole)).then(() => true);
    isCreated = await answered(completing, { ...EXISTS, ConditionalRequestConflict: false, NoSuchUpload: false });
    return isCreated;
  } finally {
    // What cannot be aborted now is aborted by the sweep.
    if (!isCreated) await client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
  }
}

/**
 * Removes the parts of unfinished uploads, and returns of how many.
 * @param begins how the names of their objects begin
 * @throws {ObjectStoreFailed}
 */
export async function abortUploads(
  client: S3Client,
  begins: ObjectName,
  isUnwanted: (upload: MultipartUpload) => boolean,
): Promise<number> {
  const { Bucket, Key: Prefix } = begins;
  let aborted = 0;
  let after: Pick<ListMultipartUploadsCommandOutput, 'NextKeyMarker' | 'NextUploadIdMarker'> | undefined = {};
  while (after) {
    const page: ListMultipartUploadsCommandOutput = await answered(
      client.send(
        new ListMultipartUploadsCommand({
          Bucket,
          Prefix,
          KeyMarker: after.NextKeyMarker,
          UploadIdMarker: after.NextUploadIdMarker,
        }),
      ),
    );
    for (const { Key, UploadId } of (page.Uploads ?? []).filter(isUnwanted)) {
      const aborting = client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
      // It may have ended meanwhile.
      await answered<unknown, unknown>(aborting, { NoSuchUpload: undefined });
      aborted += 1;
    }
    after = page.IsTruncated ? page : undefined;
  }
  return aborted;
}
