import { setTimeout as wait } from 'node:timers/promises';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { answered } from './s3-client.js';

/** The name of an object, as every request has it. */
export interface ObjectName {
  readonly Bucket: string;
  readonly Key: string;
}

/** Of two writers, one creates (RFC 9110 section 13.1.2). */
export const CREATE_ONLY = { IfNoneMatch: '*' } as const;
/** Another has created the object. */
export const EXISTS = { PreconditionFailed: false } as const;
/** Another is creating it: AWS refuses both of two writers for now. */
const BUSY = { ConditionalRequestConflict: undefined } as const;
const TRIES = 10;
const PAUSE_MS = 50;

/** Creates an object; returns false if there is one, which stays unchanged. @throws {ObjectStoreFailed} */
export async function createObject(client: S3Client, name: ObjectName, bytes: Uint8Array): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    const writing = client.send(new PutObjectCommand({ ...name, ...CREATE_ONLY, Body: bytes })).then(() => true);
    const outcome = await answered(writing, tries < TRIES ? { ...EXISTS, ...BUSY } : EXISTS);
    if (outcome !== undefined) return outcome;
    await wait(PAUSE_MS);
  }
}
