import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import { plainText } from '../../platform/plain-text.js';
import { addressOfWalletKey, isTesseraKey } from './subject-keys.js';

/** An organisation as a tenancy knows it: a name that the tenancy chose, and the organisation's keys. */
export interface Subject {
  readonly tenantId: string;
  readonly subjectId: string;
  readonly displayName: string;
  /** Hex of points of secp256k1, as they were given. */
  readonly walletPubKeys: readonly string[];
  /** EIP-55; derived, in the order of the keys. */
  readonly walletAddresses: readonly string[];
  /** base64, as they were given. */
  readonly tesseraPubKeys: readonly string[];
  readonly createdAt: Date;
}

/** In every tenancy, the subject that holds the tenancy's own keys. */
export const SELF = '00000000-0000-0000-0000-000000000000';

const MAX_KEYS = 32;
const MAX_KEY = 256;
const keys = z.array(z.string().max(MAX_KEY)).max(MAX_KEYS);
const displayName = plainText(128).min(1);

/**
 * Body of `POST /archivist/iam/v1/subjects`: keys, or the string that the other organisation exported. The record of its
 * Self has both.
 */
export const createSubjectSchema = z
  .object({
    display_name: displayName,
    wallet_pub_key: keys.nullish(),
    tessera_pub_key: keys.nullish(),
    subject_string: z
      .string()
      .max(64 * 1024)
      .nullish(),
  })
  .refine((body) => !body.subject_string || hasKeysOf(body.subject_string, body), {
    path: ['subject_string'],
    message: 'has other keys than wallet_pub_key and tessera_pub_key: send one or the other',
  });
export type CreateSubjectBody = z.output<typeof createSubjectSchema>;

/** Body of `PATCH …/{uuid}`: what is missing or null stays unchanged; a list of keys is replaced as a whole. */
export const changeSubjectSchema = z.object({
  display_name: displayName.nullish(),
  wallet_pub_key: keys.nullish(),
  tessera_pub_key: keys.nullish(),
});
export type ChangeSubjectBody = z.output<typeof changeSubjectSchema>;

export interface SubjectKeys {
  readonly walletPubKeys: readonly string[];
  readonly walletAddresses: readonly string[];
  readonly tesseraPubKeys: readonly string[];
}

/** Keys as they were sent, with the addresses of the wallets. @throws {ApiError} bad_request naming the key */
export function readSubjectKeys(walletPubKeys: readonly string[], tesseraPubKeys: readonly string[]): SubjectKeys {
  return { ...readWalletKeys(walletPubKeys), ...readTesseraKeys(tesseraPubKeys) };
}

/** The keys that a change names; a list that it does not name is not checked again. @throws {ApiError} bad_request */
export function readChangedKeys(body: ChangeSubjectBody): Partial<SubjectKeys> {
  return {
    ...(body.wallet_pub_key ? readWalletKeys(body.wallet_pub_key) : {}),
    ...(body.tessera_pub_key ? readTesseraKeys(body.tessera_pub_key) : {}),
  };
}

function readWalletKeys(walletPubKeys: readonly string[]): Omit<SubjectKeys, 'tesseraPubKeys'> {
  const walletAddresses = walletPubKeys.map((key, place) => {
    const address = addressOfWalletKey(key);
    if (address !== undefined) return address;
    throw new ApiError('bad_request', `wallet_pub_key.${place}: must be hex of a point of secp256k1`);
  });
  return { walletPubKeys, walletAddresses };
}

function readTesseraKeys(tesseraPubKeys: readonly string[]): Pick<SubjectKeys, 'tesseraPubKeys'> {
  const wrong = tesseraPubKeys.findIndex((key) => !isTesseraKey(key));
  if (wrong >= 0)
    throw new ApiError('bad_request', `tessera_pub_key.${wrong}: must be base64 of a key of Curve25519 or P-256`);
  return { tesseraPubKeys };
}

const subjectStringSchema = z.object({ wallet_pub_key: keys, tessera_pub_key: keys.nullish() });

function decodedString(text: string) {
  return subjectStringSchema.safeParse(jsonOf(Buffer.from(text.trim(), 'base64').toString('utf8')));
}

/** Whether keys that are sent beside a subject string are those in it. None are, too. */
function hasKeysOf(text: string, sent: ChangeSubjectBody): boolean {
  const listed = [sent.wallet_pub_key, sent.tessera_pub_key].map((each) => each ?? []);
  if (listed.every((each) => each.length === 0)) return true;
  const { data } = decodedString(text);
  return data !== undefined && isDeepStrictEqual(listed, [data.wallet_pub_key, data.tessera_pub_key ?? []]);
}

/** The keys in a subject string: base64 of the exported subject as JSON (docs/design/interface.md#existing-clients). @throws {ApiError} bad_request */
export function readSubjectString(text: string): SubjectKeys {
  const parsed = decodedString(text);
  if (!parsed.success)
    throw new ApiError('bad_request', 'subject_string: is not base64 of an exported subject, with its wallet_pub_key');
  return readSubjectKeys(parsed.data.wallet_pub_key, parsed.data.tessera_pub_key ?? []);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function subjectIdentity(subjectId: string): string {
  return `subjects/${subjectId}`;
}

export function noSuchSubject(): ApiError {
  return new ApiError('not_found', 'There is no such subject.');
}

/** A subject in a response; only Self has a `subject_string`. */
export const subjectSchema = z.strictObject({
  identity: z.string(),
  display_name: z.string(),
  wallet_pub_key: z.array(z.string()),
  wallet_address: z.array(z.string()),
  tessera_pub_key: z.array(z.string()),
  tenant: z.string(),
  confirmation_status: z.enum(['PENDING', 'CONFIRMED']),
  subject_string: z.string().optional(),
});

/** A subject in the form of the interface; Self also as the string that another organisation imports. */
export function subjectResponse(subject: Subject, confirmed: boolean): Record<string, unknown> {
  const isSelf = subject.subjectId === SELF;
  const response = {
    identity: subjectIdentity(subject.subjectId),
    display_name: subject.displayName,
    wallet_pub_key: subject.walletPubKeys,
    wallet_address: subject.walletAddresses,
    tessera_pub_key: subject.tesseraPubKeys,
    tenant: `tenant/${subject.tenantId}`,
    confirmation_status: confirmed || isSelf ? 'CONFIRMED' : 'PENDING',
  };
  if (!isSelf) return response;
  return { ...response, subject_string: Buffer.from(JSON.stringify(response)).toString('base64') };
}
