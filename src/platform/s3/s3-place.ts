import { join } from 'node:path';
import { z } from 'zod';
import { baseUrl } from '../config-values.js';

/** Where objects are kept on a server that speaks S3. */
export interface S3Place {
  readonly bucket: string;
  /** Begins the name of every object: empty, or with a slash at its end. */
  readonly prefix: string;
  readonly region: string;
  /** Where uploads wait until the server has them. */
  readonly uploadsDir: string;
  /** Undefined for AWS itself. */
  readonly endpoint: string | undefined;
  /** Undefined: they are found as all programs of AWS find them (profile, role of the container or of the machine). */
  readonly credentials: S3Credentials | undefined;
}

interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The part of a place that `OBJECT_STORE_URL` has. */
export type S3Url = Pick<S3Place, 'bucket' | 'prefix'>;

const S3_URL = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*)\/?$/;

/** Reads `s3://bucket` or `s3://bucket/a/path`; undefined if it is neither. */
export function readS3Url(text: string): S3Url | undefined {
  const [, bucket, path] = text.match(S3_URL) ?? [];
  return bucket === undefined ? undefined : { bucket, prefix: path ? `${path.slice(1)}/` : '' };
}

/** AWS's own names, so that a machine that is set up for S3 needs no others. */
export const s3Variables = {
  AWS_REGION: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, 'must be the name of a region')
    .default('us-east-1'),
  AWS_ENDPOINT_URL_S3: baseUrl.optional(),
  AWS_ENDPOINT_URL: baseUrl.optional(),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
};
type S3Environment = z.output<z.ZodObject<typeof s3Variables>>;

/** Returns an error if variables contradict each other, otherwise undefined. */
export function findS3Contradiction(env: S3Environment): string | undefined {
  const [id, secret] = [env.AWS_ACCESS_KEY_ID, env.AWS_SECRET_ACCESS_KEY].map((given) => given !== undefined);
  return id === secret ? undefined : 'AWS_ACCESS_KEY_ID: must be set together with AWS_SECRET_ACCESS_KEY';
}

/** The place of a URL in this environment. */
export function s3Place(url: S3Url, env: S3Environment, dataDir: string): S3Place {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: token } = env;
  const credentials =
    accessKeyId === undefined || secretAccessKey === undefined
      ? undefined
      : { accessKeyId, secretAccessKey, ...(token === undefined ? {} : { sessionToken: token }) };
  return {
    ...url,
    uploadsDir: join(dataDir, 'uploads'),
    region: env.AWS_REGION,
    endpoint: env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL,
    credentials,
  };
}
