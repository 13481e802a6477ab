import { fromBase64 } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { assetEventLeaf } from '../event/asset-event-leaf.js';
import { assetFreeExtraBytes, assetFreeLeaf } from '../event/asset-free-leaf.js';
import { EPOCH, parseIdtimestampHex } from '../massif/idtimestamp.js';
import { type ReadLogClaims, tenancyOfLog } from '../receipt/log-claims.js';
import { type Sha256, sha256 } from '../sha256.js';
import { type EventDocument, isAssetEvent, type LogCommit } from '../statement/event-document.js';

/** The event attribute with the base64 of a statement that was registered before the event was made from it. */
export const REGISTERED_STATEMENT = 'signed_statement';

/** Returns the place in its log that a frozen event names. */
export function eventCommit(event: EventDocument): LogCommit {
  return isAssetEvent(event) ? event.merklelog_entry.commit : event.merklelog_commit;
}

/** Returns the event's own attributes, for either kind of event. */
export function eventAttributes(event: EventDocument): Readonly<Record<string, unknown>> {
  return (isAssetEvent(event) ? event.event_attributes : event.attributes) ?? {};
}

/** The leaf of a frozen event in its log, recomputed from only its fields, and the node index that it claims. */
export interface EventLeaf {
  readonly leaf: Uint8Array;
  readonly mmrIndex: bigint;
}

/** Bencode leaves nulls out and writes `true` as a number: the leaf would be the same without the one, or with the other. */
function checkCoverable(value: unknown, path: string): void {
  if (typeof value === 'string') return;
  if (typeof value !== 'object' || value === null)
    throw new TypeError(`${path} is ${value === null ? 'null' : `a ${typeof value}`}`);
  for (const [name, member] of Object.entries(value)) checkCoverable(member, `${path}.${name}`);
}

const COVERED_MAPS = ['event_attributes', 'asset_attributes', 'principal_declared', 'principal_accepted'] as const;

/**
 * Recomputes the leaf of a frozen event from only the event.
 * @throws {VerificationError} `event_mismatch` if a field has a value that no log commits to
 */
export function eventLeaf(event: EventDocument, hash: Sha256 = sha256): EventLeaf {
  const commit = eventCommit(event);
  try {
    const { epoch, id } = parseIdtimestampHex(commit.idtimestamp);
    // No leaf covers the epoch: any other than the one in use would be a time that nobody committed to.
    if (epoch !== EPOCH) throw new TypeError(`its commitment epoch is not ${EPOCH}`);
    if (isAssetEvent(event)) for (const name of COVERED_MAPS) checkCoverable(event[name], name);
    // Digits of a number that a double does not hold would not reach the leaf.
    else if (event.attributes != null) checkCoverable(event.attributes, 'attributes');
    const leaf = isAssetEvent(event)
      ? assetEventLeaf(event, id, hash)
      : assetFreeLeaf(event, id, assetFreeExtraBytes(event), hash);
    return { leaf, mmrIndex: BigInt(commit.index) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new VerificationError('event_mismatch', `a log cannot hold such an event: ${error.message}`);
  }
}

/**
 * Checks that an event belongs to a log. The log's name holds the tenancy that the event names.
 * For a public form it is the other way round: it names the tenancy that created it, and belongs in the public log. No
 * leaf covers the word `public`, so in the creator's own log it would be a private event that is shown as a public one.
 * @throws {VerificationError} `log_mismatch`
 */
export function checkEventLog(claims: ReadLogClaims, event: EventDocument): void {
  const tenancy = (isAssetEvent(event) ? event.tenant_identity : event.origin_tenant).replace(/^tenant\//, '');
  const logTenancy = tenancyOfLog(claims);
  if (tenancy === '' || logTenancy === undefined || (logTenancy === tenancy) === event.identity.startsWith('public'))
    throw new VerificationError('log_mismatch', `the event does not belong to the log "${claims.subject}"`);
}

/**
 * Returns the submitted statement of an event that was made from a registered statement; undefined for any other event.
 */
export function submittedStatement(event: EventDocument): Uint8Array | undefined {
  const registered = eventAttributes(event)[REGISTERED_STATEMENT];
  try {
    return typeof registered === 'string' ? fromBase64(registered) : undefined;
  } catch {
    return undefined;
  }
}
