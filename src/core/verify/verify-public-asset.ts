import { equalBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { bencode } from '../event/bencode.js';
import type { AssetEventDocument } from '../statement/event-document.js';
import type { Claim, Proof } from './claim.js';
import { createVerdict, notCovered, type Verdict } from './verdict.js';
import { type ReceiptTrust, verifyReceipt } from './verify-receipt.js';

/** What a public asset says of itself, as far as its events prove it. */
export interface PublicAssetDocument {
  /** `publicassets/<uuid>`. */
  readonly identity: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** An event in its public form, and its receipt from the public log. */
export interface PublicEvent {
  readonly event: AssetEventDocument;
  readonly receipt: Uint8Array;
}

function mismatch(why: string): VerificationError {
  return new VerificationError('event_mismatch', why);
}

function checkHistory({ identity }: PublicAssetDocument, events: readonly AssetEventDocument[]): void {
  const foreign = events.find((event) => !event.identity.startsWith(`${identity}/events/`));
  if (foreign) throw mismatch(`${foreign.identity} is not an event of ${identity}`);
  if (new Set(events.map((event) => event.identity)).size !== events.length) throw mismatch('an event is there twice');
  const [creation, ...more] = events.filter(({ operation }) => operation === 'NewAsset');
  if (!creation || more.length > 0) throw mismatch(`not one of the events created ${identity}, or several did`);
  if (events.some((event) => acceptedAt(event) < acceptedAt(creation)))
    throw mismatch(`an event is older than ${identity} itself`);
}

/** Unix milliseconds; an event's own text is what the log covers. */
function acceptedAt({ timestamp_accepted }: AssetEventDocument): number {
  const time = Date.parse(timestamp_accepted);
  if (Number.isNaN(time)) throw mismatch('timestamp_accepted is no time');
  return time;
}

/** The values that an attribute may have now: of the last event that set it, or of any of those within one tick. */
function lastValues(name: string, events: readonly AssetEventDocument[]): unknown[] {
  const setters = events.filter(({ asset_attributes: set }) => set && Object.hasOwn(set, name));
  const newest = setters.reduce((latest, event) => Math.max(latest, acceptedAt(event)), -Infinity);
  return setters.filter((event) => acceptedAt(event) === newest).map((event) => event.asset_attributes![name]);
}

function encoded(value: unknown): Uint8Array {
  try {
    if (hasNull(value)) throw new TypeError('null is not allowed as a value');
    return bencode(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw mismatch(`no event makes such attributes: ${error.message}`);
  }
}

/** Bencode leaves nulls out: one that is added would change nothing of what is compared. */
function hasNull(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.values(value as object).some(hasNull));
}

function checkAttributes({ attributes }: PublicAssetDocument, events: readonly AssetEventDocument[]): void {
  const names = new Set([
    ...Object.keys(attributes),
    ...events.flatMap(({ asset_attributes: set }) => Object.keys(set ?? {})),
  ]);
  for (const name of names) {
    const shown = Object.hasOwn(attributes, name) ? encoded(attributes[name]) : undefined;
    if (!shown || !lastValues(name, events).some((value) => equalBytes(encoded(value), shown)))
      throw mismatch(`the attribute ${name} of the asset is not what its events made of it`);
  }
}

/**
 * Checks a public asset: each of its events has a receipt of the public log (pin it with `trust.log`), and together they
 * make the attributes that the asset shows. Resolves with these attributes as the claim. That no event was left out cannot
 * be shown by receipts, unless it set an attribute last.
 * @throws {VerificationError} `event_mismatch`, and those of any receipt
 */
export async function verifyPublicAsset(
  asset: PublicAssetDocument,
  proven: readonly PublicEvent[],
  trust: ReceiptTrust,
): Promise<Verdict> {
  const events = proven.map(({ event }) => event);
  checkHistory(asset, events);
  const by: Proof[] = [];
  for (const { event, receipt } of proven) {
    const { claims } = await verifyReceipt(receipt, { event }, trust);
    by.push(...claims.flatMap((claim) => claim.by));
  }
  checkAttributes(asset, events);
  const { identity, attributes } = asset;
  const claim: Claim = {
    kind: 'public_asset',
    piece: 'public_asset',
    facts: { identity, attributes, events: events.length },
    by,
  };
  const detail = 'receipts do not show that an event was left out, unless it set an attribute last';
  return createVerdict({ claims: [claim] }, notCovered('public_asset', 'by_design', detail, ['completeness']));
}
