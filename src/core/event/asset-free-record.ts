import { utf8 } from '../bytes.js';
import { type Sha256, sha256 } from '../sha256.js';
import { canonicalJson, NoCanonicalFormError } from '../vcon/jcs.js';
import type { JsonValue } from '../vcon/json-document.js';

/** The members of an asset-free event that its record covers, under the names and with the values of the API's answer. */
export interface AssetFreeRecord {
  /** `events/<uuid>` */
  readonly identity: string;
  readonly event_type: string;
  readonly created_by: string;
  /** Unix milliseconds, as a number or in decimal digits. */
  readonly created_at: string | number | bigint;
  /** `tenant/<uuid>` */
  readonly origin_tenant: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly trails: readonly string[];
}

/** The names of the members, in the order of the canonical form. */
export const ASSET_FREE_RECORD_MEMBERS = [
  'attributes',
  'created_at',
  'created_by',
  'event_type',
  'identity',
  'origin_tenant',
  'trails',
] as const satisfies readonly (keyof AssetFreeRecord)[];

function milliseconds(value: string | number | bigint): JsonValue {
  const lexeme = String(value);
  if (!/^(0|[1-9][0-9]*)$/.test(lexeme) || !Number.isSafeInteger(Number(lexeme)))
    throw new TypeError('created_at is not a time in Unix milliseconds');
  return { lexeme };
}

function jsonValue(value: unknown): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return { lexeme: String(value) };
  if (Array.isArray(value)) return value.map(jsonValue);
  if (typeof value !== 'object') throw new TypeError(`JSON has no ${typeof value}`);
  return new Map(Object.entries(value).map(([name, member]) => [name, jsonValue(member)]));
}

/**
 * Returns the record of an asset-free event: RFC 8785 (JCS) of the object with exactly the seven members, `created_at`
 * as a JSON number (docs/formats/asset-free-record.md).
 * @throws {TypeError} if `created_at` is not a time, or a member has no canonical form
 */
export function assetFreeRecordText(event: AssetFreeRecord): string {
  const members = ASSET_FREE_RECORD_MEMBERS.map((name): [string, JsonValue] => [
    name,
    name === 'created_at' ? milliseconds(event.created_at) : jsonValue(event[name]),
  ]);
  try {
    return canonicalJson(new Map(members)).text;
  } catch (error) {
    if (error instanceof NoCanonicalFormError) throw new TypeError(error.message);
    throw error;
  }
}

/**
 * Returns the SHA-256 of the record's UTF-8 bytes. An entry of the private statement log covers this digest.
 * @throws {TypeError} as `assetFreeRecordText`
 */
export function assetFreeRecordDigest(event: AssetFreeRecord, hash: Sha256 = sha256): Uint8Array {
  return hash(utf8(assetFreeRecordText(event)));
}
