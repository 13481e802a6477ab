import type { AssetEventDocument } from '../statement/event-document.js';
import { acceptedAt, checkAssetAttributes, mismatch } from './asset-attributes.js';
import type { Claim, Proof } from './claim.js';
import { createVerdict, notCovered, type Verdict } from './verdict.js';
import { type ReceiptTrust, verifyReceipt } from './verify-receipt.js';

/** The members of a public asset that its events can prove. */
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

function checkHistory({ identity }: PublicAssetDocument, events: readonly AssetEventDocument[]): void {
  const foreign = events.find((event) => !event.identity.startsWith(`${identity}/events/`));
  if (foreign) throw mismatch(`${foreign.identity} is not an event of ${identity}`);
  if (new Set(events.map((event) => event.identity)).size !== events.length) throw mismatch('an event is there twice');
  const [creation, ...more] = events.filter(({ operation }) => operation === 'NewAsset');
  if (!creation || more.length > 0) throw mismatch(`not one of the events created ${identity}, or several did`);
  if (events.some((event) => acceptedAt(event) < acceptedAt(creation)))
    throw mismatch(`an event is older than ${identity} itself`);
}

/**
 * Checks a public asset: each of its events has a receipt of the public log (pin it with `trust.log`), and together
 * they give the attributes that the asset shows. Resolves with these attributes as the claim.
 * Receipts cannot show that no event was left out: the asset may have newer events, and attributes from them.
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
  checkAssetAttributes(asset.attributes, events);
  const { identity, attributes } = asset;
  const claim: Claim = {
    kind: 'public_asset',
    piece: 'public_asset',
    facts: { identity, attributes, events: events.length },
    by,
  };
  const detail = 'nothing shows that no event was left out: there may be newer ones, and other attributes';
  return createVerdict({ claims: [claim] }, notCovered('public_asset', 'by_design', detail, ['completeness']));
}
