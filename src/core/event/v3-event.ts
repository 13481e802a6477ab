import { bencode } from './bencode.js';

/** Free key/value data: strings, lists and objects of such. */
type EventAttributes = Readonly<Record<string, unknown>>;

/** The eleven fields of an asset event that its leaf covers, with the names and texts of the API's answer. */
export interface V3Event {
  /** `assets/<uuid>/events/<uuid>`, or the `publicassets/…` form of it. */
  readonly identity: string;
  readonly operation: string;
  readonly behaviour: string;
  readonly tenant_identity: string;
  readonly timestamp_declared: string;
  readonly timestamp_accepted: string;
  readonly timestamp_committed: string;
  readonly event_attributes?: EventAttributes | null;
  readonly asset_attributes?: EventAttributes | null;
  readonly principal_declared?: EventAttributes | null;
  readonly principal_accepted?: EventAttributes | null;
}

/**
 * Returns the bytes that stand for an asset event in its leaf (log format, section 4): bencode of exactly the eleven
 * fields. Timestamps are hashed as texts. The public form has the identity of the permissioned one. An absent text
 * counts as empty; an absent map is left out, which differs from an empty map.
 * @throws {TypeError} if an attribute has a value that cannot be hashed
 */
export function v3Preimage(event: V3Event): Uint8Array {
  return bencode({
    identity: (event.identity ?? '').replace(/^public/, ''),
    operation: event.operation ?? '',
    behaviour: event.behaviour ?? '',
    tenant_identity: event.tenant_identity ?? '',
    timestamp_declared: event.timestamp_declared ?? '',
    timestamp_accepted: event.timestamp_accepted ?? '',
    timestamp_committed: event.timestamp_committed ?? '',
    event_attributes: event.event_attributes,
    asset_attributes: event.asset_attributes,
    principal_declared: event.principal_declared,
    principal_accepted: event.principal_accepted,
  });
}
