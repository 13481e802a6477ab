import { createHash } from 'node:crypto';
import { bencode } from '../../core/event/bencode.js';

/** The fields of a served event that a simple hash covers, the same in schema 1 and 2. */
const FIELDS = [
  'identity',
  'asset_identity',
  'event_attributes',
  'asset_attributes',
  'operation',
  'behaviour',
  'timestamp_declared',
  'timestamp_accepted',
  'timestamp_committed',
  'principal_accepted',
  'principal_declared',
  'confirmation_status',
  'from',
  'tenant_identity',
] as const;

/** A hash over events in list order. */
interface SimpleHash {
  /** @throws {TypeError} for an event that cannot be hashed */
  add(event: Readonly<Record<string, unknown>>): void;
  digest(): Uint8Array;
}

/** SHA-256 over the bencode of fourteen fields of each event as the service serves it (simple hash, schema 2). */
export function createSimpleHash(): SimpleHash {
  const hash = createHash('sha256');
  return {
    add: (event) => void hash.update(bencode(Object.fromEntries(FIELDS.map((field) => [field, event[field]])))),
    digest: () => new Uint8Array(hash.digest()),
  };
}
