import { equalBytes } from '../bytes.js';
import { DataStructure } from '../cose/labels.js';
import { mmrReceiptInForm } from '../receipt/mmr-receipt.js';
import { type EventDocument, readEventDocument } from '../statement/event-document.js';
import {
  type ReadTransparentStatement,
  readTransparentStatement,
  receiptsOfStructure,
} from '../statement/transparent-statement.js';
import { isTemplate } from '../statement/vcon-template.js';
import { parseUnambiguousBytes } from '../vcon/unambiguous-json.js';
import type { Claim, Proof } from '../verify/claim.js';
import { comparableText } from '../verify/comparable-text.js';
import { differingMembers } from '../verify/differing-members.js';
import { OPEN_ASSET_FREE_MEMBERS, uncoveredMembers } from '../verify/event-facts.js';
import { eventIssuerFindings } from '../verify/event-issuer.js';
import { verifyEventMatchesStatement } from '../verify/event-of-statement.js';
import { ofOneOperation } from '../verify/one-operation.js';
import type { ExpectedLog, IssuerTrust, LogTrust } from '../verify/trust.js';
import {
  checked,
  createVerdict,
  type Findings,
  findingsOf,
  missing,
  notCovered,
  verdictWithin,
} from '../verify/verdict.js';
import { eventAttributes } from '../verify/verify-event.js';
import { verifyReceipt } from '../verify/verify-receipt.js';
import { examineAmongOthers } from '../verify/verify-transparent-statement.js';
import type { BundleFileKind } from './bundle-layout.js';
import { examineWitness, type GivenWitnesses } from './bundled-witness.js';
import { bundleMismatch } from './check-listing.js';
import { eventInBundledLog } from './event-in-bundled-log.js';
import type { OperationFiles, PlacedFile } from './operation-files.js';
import { placed } from './placed-findings.js';
import type { BundledLogs } from './verify-bundled-logs.js';

/** What an operation's evidence is checked with. */
export interface OperationTrust extends LogTrust, IssuerTrust, GivenWitnesses {
  readonly statementLog?: ExpectedLog | undefined;
  readonly tenancyLog?: ExpectedLog | undefined;
}

/** What an operation's files prove. */
interface ExaminedOperation {
  readonly findings: Partial<Findings>;
  /** Identity in its event.json. */
  readonly identity?: string | undefined;
}

type Finding = Partial<Findings>;

const EVENT_NAME = 'event.json';

/** Checks that a file which repeats a part of the transparent statement is identical to it, or to one of several. */
function sameAs(file: PlacedFile | undefined, ...parts: readonly Uint8Array[]): Finding {
  if (!file) return {};
  if (parts.length === 0)
    return notCovered(file.path, 'unproven', 'the transparent statement does not contain such a part: not checked');
  return parts.some((part) => equalBytes(file.bytes, part))
    ? {}
    : bundleMismatch(file.path, 'it differs from the one in transparent-statement.cose');
}

/** Of several receipts for a statement, one that verifies is enough: its own file must repeat such a one. */
async function verifies(
  { path, bytes }: PlacedFile,
  { entry }: ReadTransparentStatement,
  trust: OperationTrust,
): Promise<Finding> {
  const check = () => verifyReceipt(bytes, { statement: entry }, { ...trust, log: trust.statementLog });
  return (await checked(path, check)).failed ?? {};
}

const REPEATED = ['signed-statement', 'statement-log-receipt'] as const satisfies readonly BundleFileKind[];

interface ExaminedStatement {
  readonly findings: readonly Finding[];
  readonly parts?: ReadTransparentStatement | undefined;
}

async function examineStatement(files: OperationFiles, trust: OperationTrust): Promise<ExaminedStatement> {
  const file = files.get('transparent-statement');
  if (!file) {
    const loose = REPEATED.flatMap((kind) => files.get(kind) ?? []);
    const why = 'transparent-statement.cose is missing: not checked';
    return { findings: loose.map(({ path }) => notCovered(path, 'unproven', why)) };
  }
  const examined = verdictWithin(file.path, await examineAmongOthers(file.bytes, trust));
  const verdict = ofOneOperation(examined, file.path);
  // Bytes that cannot be taken apart are refused by that verdict.
  const { proven: parts } = await checked(file.path, () => readTransparentStatement(file.bytes));
  if (!parts) return { findings: [verdict] };
  const receiptsOf = (structure: number) => receiptsOfStructure(parts, structure).map(({ bytes }) => bytes);
  const [ofStatement, ofEvent] = [receiptsOf(DataStructure.rfc9162Sha256), receiptsOf(DataStructure.mmrSha256)];
  const receipt = files.get('statement-log-receipt');
  const findings = [
    verdict,
    sameAs(files.get('signed-statement'), parts.entry),
    sameAs(receipt, ...ofStatement),
    receipt && ofStatement.length > 1 ? await verifies(receipt, parts, trust) : {},
    ...(ofEvent.length > 0 ? [sameAs(files.get('tenancy-log-receipt'), ...ofEvent)] : []),
  ];
  return { findings, parts };
}

/**
 * An event that the transparent statement does not carry must agree with it too: both are in the folder of one operation,
 * and a reader takes them for one.
 */
function ofStatement(path: string, event: EventDocument, parts: ReadTransparentStatement, proofs: readonly Finding[]) {
  return findingsOf(path, () => {
    verifyEventMatchesStatement(event, parts.statement, logIssuerOf(proofs));
    return {};
  });
}

/** Who signs for the log that holds an event, where that is proven. */
function logIssuerOf(proofs: readonly Finding[]): string | undefined {
  const all = proofs.flatMap(({ claims = [] }) => claims.flatMap(({ by }) => by));
  return all.find((proof) => proof.type === 'inclusion')?.log.issuer;
}

/** Every member that the frozen event has, and the other one too: both were read as events. */
function sameEvent(path: string, event: EventDocument, frozen: EventDocument): Finding[] {
  return differingMembers(event, frozen).map((name) => ({
    contradictions: [
      {
        code: 'bundle_mismatch',
        piece: path,
        member: name,
        detail: `${name} differs from the event in transparent-statement.cose`,
      },
    ],
  }));
}

interface ReadEvent {
  readonly event: EventDocument;
  readonly json: object;
}

/** @throws {VerificationError} `malformed` */
function readEvent(bytes: Uint8Array): ReadEvent {
  const json = parseUnambiguousBytes(bytes);
  return { event: readEventDocument(json), json: json as object };
}

/** The receipts that lie beside an event, in both forms. */
async function examineReceipts(event: EventDocument, eventPath: string, files: OperationFiles, trust: OperationTrust) {
  const findings: Finding[] = [];
  const [draft, map] = [files.get('tenancy-log-receipt'), files.get('tenancy-log-receipt-map')];
  for (const receipt of [draft, map]) {
    if (!receipt) continue;
    const check = async () =>
      placed(await verifyReceipt(receipt.bytes, { event }, { ...trust, log: trust.tenancyLog }), {
        event: eventPath,
        receipt: receipt.path,
      });
    findings.push(await findingsOf(receipt.path, check));
  }
  if (draft && map)
    findings.push(
      await findingsOf(map.path, () =>
        equalBytes(mmrReceiptInForm(map.bytes, 'draft'), draft.bytes)
          ? {}
          : bundleMismatch(map.path, 'it is not the same receipt as tenancy-log-receipt.cose'),
      ),
    );
  return findings;
}

/** @param known what the statement beside it proves */
async function examineEvent(
  file: PlacedFile,
  { event, json }: ReadEvent,
  files: OperationFiles,
  logs: BundledLogs,
  known: readonly Finding[],
  trust: OperationTrust,
): Promise<Finding[]> {
  const massif = logs.massifOf(event);
  const receipts = await examineReceipts(event, file.path, files, trust);
  const inLog = massif ? await eventInBundledLog(file.path, event, massif, [...known, ...receipts]) : {};
  const proofs = [...receipts, inLog];
  const isProven = proofs.some(({ claims = [] }) => claims.length > 0);
  return [
    ...proofs,
    isProven
      ? placed(createVerdict(uncoveredMembers(event, json)), { event: file.path })
      : notCovered(file.path, 'unproven', 'no receipt and no log file in the bundle proves that a log holds it'),
    await examineWitness(event, file.path, files, trust),
  ];
}

/** A bundle whose statements were taken out, with their lines in its index, would otherwise look whole. */
function absentStatement(path: string, event: EventDocument, files: OperationFiles): Finding {
  if (files.has('transparent-statement') || !isTemplate(eventAttributes(event))) return {};
  const why = `the service signs a statement about each event like ${path}, and the bundle does not have it`;
  return missing('statement', why);
}

/** What the leaf leaves open of an asset-free event is proven where its statement states the whole record. */
function withRecord(verdict: Findings, eventPath: string): Findings {
  const isRecorded = verdict.claims.some(
    ({ kind, facts }) => kind === 'event' && facts.event_kind === 'asset_free' && facts.identity !== undefined,
  );
  if (!isRecorded) return verdict;
  const open: readonly string[] = OPEN_ASSET_FREE_MEMBERS;
  const notCovered = verdict.notCovered.flatMap((each) => {
    const members = each.members.filter((name) => !open.includes(name));
    const isProven = each.piece === eventPath && each.why === 'by_design' && members.length < each.members.length;
    return isProven ? (members.length === 0 ? [] : [{ ...each, members }]) : [each];
  });
  return { ...verdict, notCovered };
}

/** Whether one claim states nothing but what the other one states too. */
function isWithin({ kind, facts }: Claim, other: Claim): boolean {
  const [said, known] = [facts, other.facts] as unknown as [Record<string, unknown>, Record<string, unknown>];
  return (
    kind === other.kind && Object.keys(said).every((name) => comparableText(said[name]) === comparableText(known[name]))
  );
}

/** Facts that are proven several times are one claim, with all of their proofs. */
function merged({ claims = [], ...rest }: Findings): Findings {
  const distinct: Claim[] = [];
  for (const claim of claims) {
    const at = distinct.findIndex((other) => isWithin(claim, other) || isWithin(other, claim));
    const other = distinct[at];
    if (other)
      distinct[at] = { ...(isWithin(claim, other) ? other : claim), by: uniqueProofs([...other.by, ...claim.by]) };
    else distinct.push(claim);
  }
  return { ...rest, claims: distinct };
}

function uniqueProofs(proofs: readonly Proof[]): Proof[] {
  return [...new Map(proofs.map((proof) => [JSON.stringify(proof), proof])).values()];
}

/** Compares an event with the statement beside it, or else with the pinned issuer. */
async function issuerOfEvent(
  path: string,
  event: EventDocument,
  parts: ReadTransparentStatement | undefined,
  proofs: readonly Finding[],
  { issuer }: OperationTrust,
): Promise<Finding[]> {
  if (parts?.event) return sameEvent(path, event, parts.event);
  if (parts) return [await ofStatement(path, event, parts, proofs)];
  const isProven = proofs.some(({ claims = [] }) => claims.length > 0);
  return isProven ? [eventIssuerFindings(path, event, issuer, logIssuerOf(proofs))] : [];
}

/**
 * Checks all files of one operation, each by its own proof and against the others. Repeated parts must be identical.
 */
export async function verifyOperation(
  files: OperationFiles,
  logs: BundledLogs,
  trust: OperationTrust,
): Promise<ExaminedOperation> {
  const statement = await examineStatement(files, trust);
  const file = files.get('event');
  if (!file) {
    const open = [...files.values()].map(({ path }) =>
      notCovered(path, 'unproven', 'the event.json of its folder is missing'),
    );
    return { findings: createVerdict(...statement.findings, ...open) };
  }
  const { proven, failed } = await checked(file.path, () => readEvent(file.bytes));
  if (!proven) return { findings: createVerdict(...statement.findings, failed) };
  const examined = await examineEvent(file, proven, files, logs, statement.findings, trust);
  const all = createVerdict(
    ...statement.findings,
    ...examined,
    absentStatement(file.path, proven.event, files),
    ...(await issuerOfEvent(file.path, proven.event, statement.parts, examined, trust)),
  );
  const folder = file.path.slice(0, -EVENT_NAME.length);
  const verdict = all.contradictions.length === 0 ? ofOneOperation(all, folder) : all;
  return { findings: merged(withRecord(verdict, file.path)), identity: proven.event.identity };
}
