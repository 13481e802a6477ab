import { assembleTransparentStatement } from '../../core/statement/transparent-statement.js';
import { isTemplate } from '../../core/statement/vcon-template.js';
import { SECURITY_EVENT_TYPE } from '../../iam/security/security-event.js';
import { isWaiting } from '../../ledger/intake-store.js';
import { tenancyLog } from '../../ledger/log.js';
import { countedKeys } from '../../ledger/log-keys.js';
import { mmrReceipt, statementReceipt } from '../../ledger/receipts.js';
import { statementBytes } from '../../ledger/statement-store.js';
import { ApiError } from '../../platform/errors.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { AssetForm } from '../assets/asset.js';
import type { Attributes } from '../attributes.js';
import { type Deployment, statementLog } from '../deployment.js';
import { type AssetEvent, assetEventDocument } from '../events/asset-event.js';
import { type AssetFreeEvent, assetFreeEventDocument } from '../events/asset-free-event.js';
import { commitOf } from '../events/read-asset-events.js';
import { StatementLogBehind } from './statement-log-behind.js';

/** An event whose proofs are requested, in the form in which it is served. */
export type ProvenEvent =
  | {
      readonly kind: 'asset_event';
      readonly event: AssetEvent;
      readonly form: AssetForm;
      readonly assetIsPublic: boolean;
    }
  | { readonly kind: 'asset_free_event'; readonly event: AssetFreeEvent };

/** What proofs are made from. */
export interface ProofSource {
  readonly deployment: Deployment;
  readonly keyring: Pick<Keyring, 'everyKey'>;
}

/** The proofs that every committed event has; their bytes are the same until a key of theirs is revoked. */
export type Proof = 'receipt' | 'signed-statement' | 'transparent-statement';

/**
 * Returns the bytes of a proof (tagged COSE_Sign1).
 * @throws {ApiError} forbidden when the caller sees only a part of the event; not_ready before the seal; not_found when
 *   the event has no statement: an asset event without a vCon template, an entry of the security audit, or an asset-free
 *   event from before records were signed
 */
export async function entryProof(
  tx: Tx,
  source: ProofSource,
  proven: ProvenEvent,
  proof: Proof,
  receiptForm: 'map' | 'draft',
): Promise<Uint8Array> {
  requireWhole(proven);
  if (proof === 'receipt') return ready(await tenancyReceipt(tx, source, proven, receiptForm));
  if (!(await hasStatement(tx, source.deployment, proven))) {
    throw new ApiError('not_found', noStatement(proven));
  }
  return proof === 'signed-statement'
    ? ready(await statement(tx, source.deployment, proven))
    : transparentStatement(tx, source, proven);
}

function tenancyReceipt(
  tx: Tx,
  { keyring }: ProofSource,
  { event }: ProvenEvent,
  form: 'map' | 'draft',
): Promise<Uint8Array | undefined> {
  return mmrReceipt(tx, tenancyLog(event.tenantId), event.eventId, form, countedKeys(keyring));
}

/** Proofs cover the whole event. @throws {ApiError} forbidden when the caller sees only a part of it */
export function requireWhole(proven: ProvenEvent): void {
  if (proven.kind === 'asset_event' && proven.event.redacted)
    throw new ApiError('forbidden', 'You may not read all of this event, so its proofs are not available to you.');
}

/** Whether an event has, or will have, a statement: from its template or its record, or the registered one. */
export async function hasStatement(tx: Tx, deployment: Deployment, proven: ProvenEvent): Promise<boolean> {
  if (isTemplate(attributesOf(proven))) return true;
  if ((await statement(tx, deployment, proven)) !== undefined) return true;
  return isWaiting(tx, statementLog(deployment, isPublic(proven)), proven.event.eventId);
}

function noStatement(proven: ProvenEvent): string {
  if (proven.kind === 'asset_event')
    return 'This event carries no vCon template (payload and subject) and no registered statement, so it has no signed statement: its proof is its receipt.';
  return proven.event.eventType === SECURITY_EVENT_TYPE
    ? 'An entry of the security audit has no signed statement: its proof is its receipt.'
    : 'This event was accepted before the service signed the records of asset-free events, so it has no signed statement: its proof is its receipt.';
}

async function transparentStatement(tx: Tx, source: ProofSource, proven: ProvenEvent): Promise<Uint8Array> {
  const { event } = proven;
  const { deployment, keyring } = source;
  const draftReceipt = ready(await tenancyReceipt(tx, source, proven, 'draft'));
  const commit = ready(await commitOf(tx, proven.kind, event));
  const signed = await statement(tx, deployment, proven);
  const log = statementLog(deployment, isPublic(proven));
  const rfc9162Receipt = await statementReceipt(tx, log, event.eventId, countedKeys(keyring));
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
