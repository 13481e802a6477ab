import { assembleTransparentStatement } from '../../core/statement/transparent-statement.js';
import { readTemplate } from '../../core/statement/vcon-template.js';
import { mmrReceipt, statementReceipt } from '../../ledger/receipts.js';
import { statementBytes } from '../../ledger/statement-store.js';
import { ApiError } from '../../platform/errors.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Attributes } from '../attributes.js';
import { type Deployment, statementLog, tenancyLog } from '../deployment.js';
import { type AssetEvent, type AssetForm, assetEventDocument } from '../events/asset-event.js';
import { type AssetFreeEvent, assetFreeEventDocument } from '../events/asset-free-event.js';
import { commitOf } from '../events/read-asset-events.js';
import { StatementLogBehind } from './statement-log-behind.js';

/** An event whose proofs are asked for, in the form in which it is served. */
export type ProvenEvent =
  | {
      readonly kind: 'asset_event';
      readonly event: AssetEvent;
      readonly form: AssetForm;
      readonly assetIsPublic: boolean;
    }
  | { readonly kind: 'asset_free_event'; readonly event: AssetFreeEvent };

/** The proofs that every committed event has; all bytes are the same at every request. */
export type Proof = 'receipt' | 'signed-statement' | 'transparent-statement';

/**
 * The bytes of a proof (tagged COSE_Sign1).
 * @throws {ApiError} forbidden for who sees a part of the event; not_ready before the seal; not_found when the event carries no vCon template to make a statement of
 */
export async function entryProof(
  tx: Tx,
  deployment: Deployment,
  proven: ProvenEvent,
  proof: Proof,
  receiptForm: 'map' | 'draft',
): Promise<Uint8Array> {
  if (proven.kind === 'asset_event' && proven.event.redacted)
    throw new ApiError('forbidden', 'You do not see all of this event, so you can be shown no proof of it.');
  if (proof === 'receipt')
    return ready(await mmrReceipt(tx, tenancyLog(proven.event.tenantId), proven.event.eventId, receiptForm));
  if (!(await hasStatement(tx, deployment, proven))) {
    throw new ApiError(
      'not_found',
      'This event carries no vCon template (payload and subject) and no registered statement, so it has no signed statement.',
    );
  }
  return proof === 'signed-statement'
    ? ready(await statement(tx, deployment, proven))
    : transparentStatement(tx, deployment, proven);
}

/** Whether an event has a statement, or will have one: of its template, or the one that was registered. */
export async function hasStatement(tx: Tx, deployment: Deployment, proven: ProvenEvent): Promise<boolean> {
  if (readTemplate(attributesOf(proven))) return true;
  return (await statement(tx, deployment, proven)) !== undefined;
}

async function transparentStatement(tx: Tx, deployment: Deployment, proven: ProvenEvent): Promise<Uint8Array> {
  const { event } = proven;
  const draftReceipt = ready(await mmrReceipt(tx, tenancyLog(event.tenantId), event.eventId, 'draft'));
  const commit = ready(await commitOf(tx, event));
  const signed = await statement(tx, deployment, proven);
  const rfc9162Receipt = await statementReceipt(tx, statementLog(deployment, isPublic(proven)), event.eventId);
  if (!signed || !rfc9162Receipt) throw new StatementLogBehind();
  const document =
    proven.kind === 'asset_event'
      ? assetEventDocument(proven.event, commit, proven.form)
      : assetFreeEventDocument(proven.event, commit);
  return assembleTransparentStatement(signed, { rfc9162Receipt, mmrReceipt: draftReceipt, event: document });
}

function attributesOf(proven: ProvenEvent): Attributes {
  return proven.kind === 'asset_event' ? proven.event.eventAttributes : proven.event.attributes;
}

function isPublic(proven: ProvenEvent): boolean {
  return proven.kind === 'asset_event' && proven.assetIsPublic;
}

/** The statement of a public asset's event is made from its public form. */
function statement(tx: Tx, deployment: Deployment, proven: ProvenEvent): Promise<Uint8Array | undefined> {
  return statementBytes(tx, isPublic(proven) ? deployment.publicTenancy : proven.event.tenantId, proven.event.eventId);
}

function ready<Value>(value: Value | undefined): Value {
  if (value !== undefined) return value;
  throw new ApiError('not_ready', 'The proof is not ready yet: the event waits for its log to be sealed.', {
    'retry-after': '1',
  });
}
