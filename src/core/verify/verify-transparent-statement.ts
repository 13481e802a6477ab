import { DataStructure } from '../cose/labels.js';
import { type EventDocument, isAssetEvent } from '../statement/event-document.js';
import {
  type AttachedReceipt,
  type ReadTransparentStatement,
  readTransparentStatement,
  receiptsOfStructure,
} from '../statement/transparent-statement.js';
import type { Claim, InclusionProof } from './claim.js';
import { provenEvent, recordedEvent, uncoveredMembers } from './event-facts.js';
import { verifyEventMatchesStatement } from './event-of-statement.js';
import { documentFindings } from './match-document.js';
import { historyFindings } from './one-history.js';
import { openPlace } from './proofs.js';
import { type ShownByReceipts, shownByReceipts } from './shown-by-receipts.js';
import { signatureProof, statementFacts } from './statement-facts.js';
import type { ExpectedLog, IssuerTrust, LogTrust } from './trust.js';
import {
  checked,
  createVerdict,
  type Findings,
  missing,
  notCovered,
  requireVerified,
  type Verdict,
} from './verdict.js';
import { checkEventLog, eventLeaf, submittedStatement } from './verify-event.js';
import { verifyMmrReceipt, verifyRfc9162Receipt } from './verify-receipt.js';
import { type ProvenRegistration, type VerifiedStatement, verifyStatement } from './verify-statement.js';

/** What a transparent statement is checked with. */
export interface TransparentStatementTrust extends LogTrust, IssuerTrust {
  /** The vCon, or whatever document the statement is about; without it the payload hash is not checked. */
  readonly document?: Uint8Array | undefined;
  /** Pins of the two logs, where their names are known. */
  readonly statementLog?: ExpectedLog | undefined;
  readonly tenancyLog?: ExpectedLog | undefined;
}

/** Proofs of its parts that other files brought. They count where no receipt of its own for that part does. */
interface ProvenElsewhere {
  readonly statement: readonly InclusionProof[];
  readonly event: readonly InclusionProof[];
}

const NOWHERE: ProvenElsewhere = { statement: [], event: [] };

/** Names of the pieces of a transparent statement in its verdict. */
const PIECE = {
  statement: 'statement',
  statementReceipt: 'statement_log_receipt',
  event: 'event',
  eventReceipt: 'tenancy_log_receipt',
} as const;

const UNREGISTERED = [
  missing('statement_log_receipt', 'no receipt shows that a statement log holds the statement'),
  notCovered(PIECE.statement, 'unproven', 'nothing shows that the statement was registered', ['registration']),
];
const NO_DOCUMENT = missing('document', 'no document was given to compare with the payload hash');
const NO_EVENT = 'no event was given: nothing says when the statement was registered, and by which application';
const NO_EVENT_RECEIPT = 'no receipt shows that a log holds the event: none of its members is a fact';
const UNLOGGED = [
  missing('tenancy_log_receipt', NO_EVENT_RECEIPT),
  notCovered(PIECE.event, 'unproven', NO_EVENT_RECEIPT),
];

/** The statement logs' receipts. */
function registration(
  { entry, receipts }: ReadTransparentStatement,
  trust: TransparentStatementTrust,
  elsewhere: readonly InclusionProof[],
): Promise<ShownByReceipts> {
  const { logKeys, verifySignature, sha256, statementLog: log } = trust;
  // One of an unknown structure, or that cannot be read, may have been meant as proof of the statement.
  const own = receipts.filter(({ structure }) => structure !== DataStructure.mmrSha256);
  return shownByReceipts(PIECE.statementReceipt, own, logKeys, elsewhere, async (receipt) => {
    const { proof } = await verifyRfc9162Receipt(receipt, entry, { logKeys, verifySignature, sha256, log });
    return proof;
  });
}

/** The tenancy log's receipts, and that its log is the event's own. */
function commitment(
  receipts: readonly AttachedReceipt[],
  event: EventDocument,
  trust: TransparentStatementTrust,
  elsewhere: readonly InclusionProof[],
): Promise<ShownByReceipts> {
  const { logKeys, verifySignature, sha256, tenancyLog: log } = trust;
  return shownByReceipts(PIECE.eventReceipt, receipts, logKeys, elsewhere, async (receipt) => {
    const { leaf, mmrIndex } = eventLeaf(event, sha256);
    const proven = await verifyMmrReceipt(receipt, leaf, { logKeys, verifySignature, sha256, log, mmrIndex });
    checkEventLog(proven, event);
    return proven.proof;
  });
}

interface ExaminedEvent {
  /** The event, when a log is proven to hold it and it agrees with the statement. */
  readonly proven?: {
    readonly event: EventDocument;
    readonly json: object;
    readonly proofs: readonly InclusionProof[];
  };
  /** Whether the statement states the event's whole record. */
  readonly isRecorded?: boolean;
  /** What else is said of it: what is wrong, unproven or does not count. */
  readonly findings: Partial<Findings>;
}

async function examineEvent(
  parts: ReadTransparentStatement,
  trust: TransparentStatementTrust,
  elsewhere: readonly InclusionProof[],
): Promise<ExaminedEvent> {
  const { event, eventJson: json, statement } = parts;
  const receipts = receiptsOfStructure(parts, DataStructure.mmrSha256);
  if (!event || !json) {
    const why = 'without its event the receipt proves nothing';
    const unused = receipts.map(() => notCovered(PIECE.eventReceipt, 'explanation', why));
    return { findings: createVerdict(missing('event', NO_EVENT), unused) };
  }
  const { proofs, findings } = await commitment(receipts, event, trust, elsewhere);
  const logIssuers = proofs.map(({ log }) => log.issuer);
  const matched = await checked(PIECE.event, () => ({
    isRecorded: verifyEventMatchesStatement(event, statement, ...logIssuers),
  }));
  if (proofs.length > 0 && matched.proven) return { proven: { event, json, proofs }, findings, ...matched.proven };
  const isOpen = proofs.length === 0 && receipts.length === 0;
  return { findings: createVerdict(matched.failed ?? {}, findings, isOpen ? UNLOGGED : []) };
}

/** The event's findings; a record covers it only if the signature of the statement that states it was checked. */
function eventFindings(
  { proven, isRecorded, findings }: ExaminedEvent,
  statement: Claim | undefined,
): Partial<Findings> {
  if (!proven) return findings;
  const { event, json, proofs } = proven;
  const placed = proofs.find((proof) => proof.leaf_index !== undefined) ?? proofs[0]!;
  const claims =
    isRecorded && statement && !isAssetEvent(event)
      ? recordedEvent(event, { record: statement.by, leaf: proofs })
      : provenEvent(event, proofs);
  return createVerdict(claims, findings, openPlace(PIECE.eventReceipt, placed), uncoveredMembers(event, json));
}

/** What a proven event says of its statement's registration; an asset-free event's leaf covers no time of acceptance. */
function registrationOf(event: EventDocument | undefined): ProvenRegistration | undefined {
  if (!event || !isAssetEvent(event)) return undefined;
  const atMs = Date.parse(event.timestamp_accepted);
  return Number.isNaN(atMs) ? undefined : { atMs, submitted: submittedStatement(event) };
}

/**
 * Returns the claim of a statement whose signature was checked, with the logs that are proven to hold it, and what is
 * open about it.
 */
export function provenStatement(statement: VerifiedStatement, logged: readonly InclusionProof[]): Partial<Findings> {
  const by = [signatureProof(statement), ...logged];
  const claim = { kind: 'statement', piece: PIECE.statement, facts: statementFacts(statement, logged), by } as const;
  const unpinned = `no issuer was pinned: a statement by any issuer of the given keys passes. This one is by ${statement.issuer}`;
  return createVerdict(
    { claims: [claim] },
    statement.issuerPinned ? {} : missing('issuer', unpinned),
    ...(logged.length === 0 ? UNREGISTERED : logged.map((each) => openPlace(PIECE.statementReceipt, each))),
  );
}

/** Returns the finding that nothing covers these unprotected headers of a statement. */
export function uncoveredHeaders(labels: readonly string[]): Partial<Findings> {
  const members = labels.map((label) => `header ${label}`);
  return members.length === 0 ? {} : notCovered(PIECE.statement, 'by_design', 'no signature covers these', members);
}

/**
 * Checks everything that a transparent statement proves, and resolves with the verdict. All facts are from bytes that a
 * signature or a log covers: the statement's members once its signature is checked, and the event's members once its
 * log is proven to hold it and it agrees with the statement.
 * The checks continue after a refusal. Certificates must be valid when a proven event was accepted; without such an
 * event, at the caller's time. Of several receipts for one leaf, one that verifies is enough; but two that verify and
 * show two histories of one log refuse.
 */
export async function examineTransparentStatement(
  bytes: Uint8Array,
  trust: TransparentStatementTrust,
): Promise<Verdict> {
  const verdict = await examineAmongOthers(bytes, trust);
  return createVerdict(verdict, await historyFindings(verdict.claims));
}

/** The same as part of more evidence. The caller compares the histories of all of it. */
export async function examineAmongOthers(
  bytes: Uint8Array,
  trust: TransparentStatementTrust,
  elsewhere = NOWHERE,
): Promise<Verdict> {
  const { proven: parts, failed } = await checked(PIECE.statement, () => readTransparentStatement(bytes));
  return parts ? examineParts(parts, trust, elsewhere) : createVerdict(failed);
}

async function examineParts(
  parts: ReadTransparentStatement,
  trust: TransparentStatementTrust,
  elsewhere: ProvenElsewhere,
): Promise<Verdict> {
  const ofEvent = examineEvent(parts, trust, elsewhere.event);
  const ofSignature = checked(PIECE.statement, async () => {
    const known = trust.certificates ? registrationOf((await ofEvent).proven?.event) : undefined;
    return verifyStatement(parts.statement, trust, known);
  });
  // But for a certificate's time no check needs another's answer, and a platform may check signatures beside each other.
  const ofReceipts = registration(parts, trust, elsewhere.statement);
  const [signed, logged, event] = await Promise.all([ofSignature, ofReceipts, ofEvent]);
  const statement = signed.proven ? provenStatement(signed.proven, logged.proofs) : signed.failed;
  const proven = createVerdict(statement, logged.findings, eventFindings(event, statement.claims?.[0]));
  const document = trust.document ? documentFindings(proven.claims, trust.document) : NO_DOCUMENT;
  return createVerdict(proven, document, uncoveredHeaders(parts.otherHeaders));
}

/**
 * Checks a transparent statement and resolves with its verdict, which is verified.
 * @throws {VerificationError} the first contradiction, or `insufficient_data` if a part is unproven;
 * `examineTransparentStatement` returns all of them
 */
export async function verifyTransparentStatement(
  bytes: Uint8Array,
  trust: TransparentStatementTrust,
): Promise<Verdict> {
  return requireVerified(await examineTransparentStatement(bytes, trust));
}
