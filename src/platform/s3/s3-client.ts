// The SDK of AWS finds the credentials of a container or a machine, repeats what it may, and signs: no smaller client does all
// three. It takes a fifth of a second to load, so only a deployment on S3 imports this file.
import { S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { failureReason } from '../explain-failure.js';
import { ObjectStoreFailed } from '../object-store-failed.js';
import type { S3Place } from './s3-place.js';

const CONNECT_WITHIN_MS = 5_000;
/** From the end of a request to the head of its answer. */
const ANSWER_WITHIN_MS = 20_000;
const SILENT_MS = 20_000;
/** A stream waits for its reader; the service disconnects readers that read nothing for a minute. */
const SILENT_STREAM_MS = 120_000;
const CONNECTIONS = 100;

/** Connections to one bucket. */
export interface S3Clients {
  readonly client: S3Client;
  /** For content that a reader may take slowly: nothing else waits for its connections. */
  readonly streaming: S3Client;
}

/** Opens no connection yet. */
export function s3Clients(place: S3Place): S3Clients {
  return {
    client: s3Client(place, { maxSockets: CONNECTIONS, silentMs: SILENT_MS }),
    streaming: s3Client(place, { maxSockets: Number.POSITIVE_INFINITY, silentMs: SILENT_STREAM_MS }),
  };
}

interface Connections {
  readonly maxSockets: number;
  readonly silentMs: number;
}

function s3Client(place: S3Place, { maxSockets, silentMs }: Connections): S3Client {
  const { region, endpoint, credentials } = place;
  const agent = { keepAlive: true, maxSockets };
  return new S3Client({
    region,
    // Other servers have no host name for each bucket.
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    // What is read has hashes and signatures of its own. A checked stream would also keep its connection when it is destroyed.
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_WITHIN_MS,
      requestTimeout: ANSWER_WITHIN_MS,
      throwOnRequestTimeout: true,
      socketTimeout: silentMs,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

/** There is no object of this name. A missing bucket, and with some servers a wrong user, have the same status. */
export const MISSING = { NoSuchKey: undefined, NotFound: undefined } as const;

/**
 * The result of a call, or what `expected` has for the name of the server's refusal.
 * @throws {ObjectStoreFailed} for every other failure, with the server's reason
 */
export async function answered<Result, Other = never>(
  call: Promise<Result>,
  expected: Readonly<Record<string, Other>> = {},
): Promise<Result | Other> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof S3ServiceException && Object.hasOwn(expected, error.name))
      return expected[error.name] as Other;
    throw failed(error);
  }
}

function failed(error: unknown): ObjectStoreFailed {
  const reason = failureReason(error);
  if (!(error instanceof S3ServiceException)) return new ObjectStoreFailed(reason, { cause: error });
  const { name: code, $metadata } = error;
  return new ObjectStoreFailed(`${reason} (${$metadata.httpStatusCode}, ${code})`, { cause: error }, code);
}
