import { concatBytes, fromHex, uint64ToBytes, utf8 } from '../bytes.js';
import { type Sha256, sha256 } from '../sha256.js';
import { goJson } from './go-json.js';

/** What the leaf of an asset-free event covers with its own bytes. */
export interface AssetFreeContent {
  readonly attributes?: Readonly<Record<string, unknown>> | null;
  readonly trails?: readonly string[] | null;
}

/** What it covers through the salt beside them. `created_at` is Unix milliseconds in decimal. */
export interface AssetFreeOrigin {
  /** `tenant/<uuid>` */
  readonly origin_tenant: string;
  /** Events of services that bind none of these have no such member; ours always have one, if empty. */
  readonly event_type?: string | undefined;
  readonly created_by: string;
  readonly created_at: string | number | bigint;
}

const LEAF_DOMAIN = Uint8Array.of(0);
/** First of the extra bytes: the hash scheme of asset-free events. */
const SCHEME = Uint8Array.of(1);
const EXTRA_BYTES = 24;
const ORIGIN_DIGEST_BYTES = 7;

function lengthPrefixed(text: string): Uint8Array {
  const bytes = utf8(text);
  return concatBytes(utf8(`${bytes.length}:`), bytes);
}

/**
 * Returns the serialised event: a bencode byte string of the JSON object with attributes and trails (log format,
 * section 5).
 * @throws {TypeError} if an attribute is not JSON
 */
export function assetFreeSerialisation(event: AssetFreeContent): Uint8Array {
  return lengthPrefixed(`{"attributes":${goJson(event.attributes)},"trails":${goJson(event.trails)}}`);
}

/**
 * Returns the 24 bytes that a log keeps beside the leaf and that the leaf covers: 01, the 16 bytes of the origin
 * tenancy, and the first 7 bytes of SHA-256 over event type, creator and creation time, each as `<bytes>:<text>` in
 * UTF-8, in this order. Stock verifiers read all 24 bytes from the log, so the last 7 are free for this use. They are
 * zero for an event without an event type; other services write every event so.
 * @throws {TypeError} if the tenancy is not `tenant/<uuid>`
 */
export function assetFreeExtraBytes(event: AssetFreeOrigin): Uint8Array {
  const tenancy = /^tenant\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i.exec(event.origin_tenant);
  if (!tenancy) throw new TypeError('origin_tenant is not tenant/<uuid>');
  return concatBytes(SCHEME, fromHex(tenancy[1]!.replaceAll('-', '')), originDigest(event));
}

function originDigest({ event_type, created_by, created_at }: AssetFreeOrigin): Uint8Array {
  if (event_type === undefined) return new Uint8Array(ORIGIN_DIGEST_BYTES);
  const covered = [event_type, created_by, String(created_at)].map(lengthPrefixed);
  return sha256(...covered).subarray(0, ORIGIN_DIGEST_BYTES);
}

/**
 * Returns the leaf of an asset-free event: SHA-256 of a zero byte, the extra bytes, the idtimestamp without its epoch,
 * and the serialised event (log format, section 5).
 * @throws {TypeError} if the extra bytes are not 24, or an attribute is not JSON
 */
export function assetFreeLeaf(
  event: AssetFreeContent,
  idtimestamp: bigint,
  extraBytes: Uint8Array,
  hash: Sha256 = sha256,
): Uint8Array {
  if (extraBytes.length !== EXTRA_BYTES) throw new TypeError(`a leaf has ${EXTRA_BYTES} extra bytes`);
  return hash(LEAF_DOMAIN, extraBytes, uint64ToBytes(idtimestamp), assetFreeSerialisation(event));
}
