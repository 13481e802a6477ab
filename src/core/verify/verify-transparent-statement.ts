import type { Sign1 } from '../cose/sign1.js';
import { VerificationError } from '../errors.js';
import { type MmrReceipt, readMmrReceipt } from '../receipt/mmr-receipt.js';
import { type Rfc9162Receipt, readRfc9162Receipt } from '../receipt/rfc9162-receipt.js';
import { type EventDocument, isAssetEvent } from '../statement/event-document.js';
import { readStatement } from '../statement/signed-statement.js';
import { type ReadTransparentStatement, readTransparentStatement } from '../statement/transparent-statement.js';
import { describeMatch, matchDocument } from './match-document.js';
import type { ExpectedLog, IssuerTrust, LogTrust } from './trust.js';
import {
  notChecked,
  runStep,
  type StepName,
  type VerificationReport,
  type VerificationStep,
} from './verification-report.js';
import { checkEventLog, eventLeaf, submittedStatement, verifyEventMatchesStatement } from './verify-event.js';
import { mmrReceiptPeak, rfc9162ReceiptRoot, verifyReceiptSignature } from './verify-receipt.js';
import { type ProvenRegistration, verifyStatement } from './verify-statement.js';

/** What a transparent statement is checked with. */
export interface TransparentStatementTrust extends LogTrust, IssuerTrust {
  /** The vCon, or whatever document the statement is about; without it the payload hash is not checked. */
  readonly document?: Uint8Array | undefined;
  /** Pins of the two logs, where their names are known. */
  readonly statementLog?: ExpectedLog | undefined;
  readonly tenancyLog?: ExpectedLog | undefined;
}

/** A pair of steps: the path to a root, and the signature over it. The second needs what the first computed. */
async function runReceipt<Receipt extends Rfc9162Receipt | MmrReceipt>(
  names: readonly [StepName, StepName],
  path: () => { receipt: Receipt; root: Uint8Array; detail: string },
  signature: (receipt: Receipt, root: Uint8Array) => Promise<string>,
): Promise<VerificationStep[]> {
  let reached: { receipt: Receipt; root: Uint8Array } | undefined;
  const first = await runStep(names[0], () => {
    const { detail, ...rest } = path();
    reached = rest;
    return detail;
  });
  if (!reached) return [first, notChecked(names[1], 'there is no root to check it over')];
  const { receipt, root } = reached;
  return [first, await runStep(names[1], () => signature(receipt, root))];
}

function statementLogSteps(parts: ReadTransparentStatement, trust: TransparentStatementTrust) {
  return runReceipt<Rfc9162Receipt>(
    ['statement_log_inclusion', 'statement_log_receipt'],
    () => {
      const { rfc9162Receipt } = parts.decoded;
      if (!rfc9162Receipt)
        throw new VerificationError('receipt_missing', 'the statement carries no receipt of a statement log');
      const receipt = readRfc9162Receipt(rfc9162Receipt);
      const root = rfc9162ReceiptRoot(receipt, parts.entry, trust.sha256);
      return { receipt, root, detail: `entry ${receipt.leafIndex} of a log of ${receipt.treeSize}` };
    },
    async (receipt, root) => {
      const log = trust.statementLog;
      await verifyReceiptSignature(receipt, root, { ...trust, log }, 'the statement-log receipt');
      return `signed by the log "${receipt.subject}" of ${receipt.issuer}`;
    },
  );
}

function tenancyLogSteps(
  mmrReceipt: Sign1,
  event: EventDocument,
  trust: TransparentStatementTrust,
): Promise<VerificationStep[]> {
  return runReceipt<MmrReceipt>(
    ['tenancy_log_inclusion', 'tenancy_log_receipt'],
    () => {
      const receipt = readMmrReceipt(mmrReceipt);
      const { leaf, mmrIndex } = eventLeaf(event, trust.sha256);
      const root = mmrReceiptPeak(receipt, leaf, mmrIndex, trust.sha256);
      return { receipt, root, detail: `the event's leaf at node ${mmrIndex}` };
    },
    async (receipt, root) => {
      const log = trust.tenancyLog;
      await verifyReceiptSignature(receipt, root, { ...trust, log }, 'the tenancy-log receipt');
      checkEventLog(receipt, event);
      return `signed by the log "${receipt.subject}" of ${receipt.issuer}`;
    },
  );
}

async function eventSteps(
  parts: ReadTransparentStatement,
  trust: TransparentStatementTrust,
): Promise<VerificationStep[]> {
  const { event } = parts;
  const { statement, mmrReceipt } = parts.decoded;
  const missing = (detail: string) => [
    notChecked('tenancy_log_inclusion', detail),
    notChecked('tenancy_log_receipt', detail),
  ];
  if (!event) {
    const detail = mmrReceipt
      ? 'without its event the receipt proves nothing'
      : 'the statement carries no such receipt';
    return [...missing(detail), notChecked('event', 'the statement carries no event')];
  }
  const logged = mmrReceipt
    ? await tenancyLogSteps(mmrReceipt, event, trust)
    : missing('the statement carries no such receipt');
  const matched = await runStep('event', () => {
    verifyEventMatchesStatement(event, statement);
    // The leaf of an asset-free event does not cover its identity: nothing may be said of it here.
    const name = isAssetEvent(event) ? event.identity : 'the asset-free event';
    return `${name} has the statement's payload, subject and hash algorithm`;
  });
  const proven = logged.every(({ outcome }) => outcome === 'verified');
  const unproven = matched.outcome === 'verified' && !proven;
  return [...logged, unproven ? notChecked('event', 'it agrees, but nothing proves that a log holds it') : matched];
}

function documentStep(
  parts: ReadTransparentStatement,
  document: Uint8Array | undefined,
  eventProven: boolean,
): Promise<VerificationStep> | VerificationStep {
  if (!document) return notChecked('payload_hash', 'no document was given');
  return runStep('payload_hash', () =>
    describeMatch(
      matchDocument(readStatement(parts.decoded.statement), document, eventProven ? parts.event : undefined),
    ),
  );
}

/** What a proven event says of its statement's registration; an asset-free event's leaf covers no time of ours. */
function registrationOf(event: EventDocument | undefined): ProvenRegistration | undefined {
  if (!event || !isAssetEvent(event)) return undefined;
  const atMs = Date.parse(event.timestamp_accepted);
  return Number.isNaN(atMs) ? undefined : { atMs, submitted: submittedStatement(event) };
}

/**
 * Checks everything that a transparent statement proves and tells each step, also after one is refused: who reads a
 * refusal wants to know what else holds. The MMR receipt counts only together with the event that it is for. Certificates
 * have to hold at the time at which a proven event was accepted, else at the caller's.
 * @throws {VerificationError} `malformed` or `unsupported` when the bytes cannot be taken apart
 */
export async function examineTransparentStatement(
  bytes: Uint8Array,
  trust: TransparentStatementTrust,
): Promise<VerificationReport> {
  const parts = readTransparentStatement(bytes);
  const ofEvent = eventSteps(parts, trust);
  const isEventProven = async () => (await ofEvent).every(({ outcome }) => outcome === 'verified');
  const ofSignature = runStep('statement_signature', async () => {
    const registration = trust.certificates && (await isEventProven()) ? registrationOf(parts.event) : undefined;
    const { issuer, subject } = await verifyStatement(parts.decoded.statement, trust, registration);
    return `signed by ${issuer} about ${subject}`;
  });
  // But for a certificate's time none needs another's answer, and a platform may check signatures beside each other.
  const [signature, inStatementLog, inTenancyLog] = await Promise.all([
    ofSignature,
    statementLogSteps(parts, trust),
    ofEvent,
  ]);
  const payload = await documentStep(parts, trust.document, await isEventProven());
  const steps = [payload, signature, ...inStatementLog, ...inTenancyLog];
  return { verified: steps.every(({ outcome }) => outcome !== 'refused'), steps };
}

/**
 * Checks a transparent statement; `examineTransparentStatement` tells every step.
 * @throws {VerificationError} the first refusal, in the order of the steps
 */
export async function verifyTransparentStatement(bytes: Uint8Array, trust: TransparentStatementTrust): Promise<void> {
  const report = await examineTransparentStatement(bytes, trust);
  const first = report.steps.find(({ outcome }) => outcome === 'refused');
  if (first) throw new VerificationError(first.code ?? 'malformed', first.detail);
}
