import { hashName, hashRules } from '../statement/vcon-template.js';
import type { Facts } from './claim.js';

/** The digest of a file that is attached to an event or its asset. */
interface AttachmentDigest {
  /** In lower-case hex. */
  readonly digest: string;
  /** Such as `SHA-256`. */
  readonly alg: string;
}

/** Members of an event that hold attributes: of an asset event, and of one without an asset. */
const ATTRIBUTES = ['event_attributes', 'asset_attributes', 'attributes'] as const;

/**
 * Returns the digests that the covered attributes of an event name as `arc_blob_hash_value`, at any depth, each with
 * the `arc_blob_hash_alg` beside it. Values beside an unknown algorithm are left out.
 */
export function namedAttachments({ members = {} }: Facts): AttachmentDigest[] {
  return ATTRIBUTES.flatMap((name) => attachmentsIn(members[name]));
}

function attachmentsIn(value: unknown): AttachmentDigest[] {
  if (typeof value !== 'object' || value === null) return [];
  const { arc_blob_hash_value: digest, arc_blob_hash_alg: alg } = value as Readonly<Record<string, unknown>>;
  const rules = hashRules(alg);
  const own = rules && typeof digest === 'string' ? [{ digest: digest.toLowerCase(), alg: hashName(rules.alg) }] : [];
  return [...own, ...Object.values(value).flatMap(attachmentsIn)];
}
