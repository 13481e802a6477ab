import { nothingWitnessed } from '../bundle/bundled-witness.js';
import { toHex } from '../bytes.js';
import type { Claim } from '../verify/claim.js';
import { documentFindings, isAttachment } from '../verify/match-document.js';
import { historyFindings } from '../verify/one-history.js';
import { ofOneOperation } from '../verify/one-operation.js';
import {
  createVerdict,
  type Findings,
  notCovered,
  type TakenFor,
  type Verdict,
  verdictWithin,
} from '../verify/verdict.js';
import { examineAmongOthers } from '../verify/verify-transparent-statement.js';
import { besideLogs } from './beside-logs.js';
import { bundleVerdict, eventsOfBundle, filesOfBundle } from './bundle-evidence.js';
import { type CarriedEntry, carriedEntries, carriedFindings, provenEntries } from './carried-entry.js';
import { compareEvents, type StatedEvent } from './event-agreement.js';
import type { EvidenceFile } from './evidence-file.js';
import { type EvidenceKind, kindName } from './evidence-kind.js';
import { eventVerdict, type GivenEvent, otherLeavesOf, readGivenEvents } from './given-event.js';
import type { GivenTrust } from './given-trust.js';
import { checkLogFiles, checkReplica, type Progress } from './log-evidence.js';
import { withNamedDocuments } from './named-documents.js';
import { type GivenEntry, matchReceipts } from './receipt-evidence.js';
import { type GivenStatement, readGivenStatements, statementVerdict } from './statement-evidence.js';
import { UsageError } from './usage-error.js';

/** The verdict, and the kind that each given file was read as. */
export interface EvidenceVerdict {
  readonly verdict: Verdict;
  readonly files: readonly TakenFor[];
}

/** Files that were read but cannot be checked. `files` has the kind of each. */
export class NotEvidence extends UsageError {
  readonly files: readonly TakenFor[];

  constructor(message: string, files: readonly TakenFor[]) {
    super(message);
    this.files = files;
  }
}

/**
 * Checks all evidence in the files. The order of the files does not matter. Each piece is compared with every other piece
 * that it can be compared with.
 * @throws {UsageError} if there is no evidence, or a file cannot be read
 */
export async function verifyEvidence(
  given: readonly EvidenceFile[],
  trust: GivenTrust,
  progress: Progress = () => undefined,
): Promise<EvidenceVerdict> {
  const files = await withNamedDocuments(given, trust.sha256);
  const takenFor = requireEvidence(files);
  try {
    return { verdict: await checkFiles(files, trust, progress), files: takenFor };
  } catch (error) {
    throw error instanceof UsageError ? new NotEvidence(error.message, takenFor) : error;
  }
}

/** Kinds of files that are not evidence themselves. */
const NO_EVIDENCE: readonly EvidenceKind[] = ['document', 'keys', 'key_manifest'];

/** Returns what each file is taken for. @throws {NotEvidence} if none of them is evidence */
function requireEvidence(files: readonly EvidenceFile[]): readonly TakenFor[] {
  const takenFor = files.map(({ path, takenFor: kind }) => ({ file: path, kind }));
  if (files.some(({ kind }) => !NO_EVIDENCE.includes(kind))) return takenFor;
  const list = takenFor.map(({ file, kind }) => `${file} was read as ${kindName(kind)}`).join(', ');
  throw new NotEvidence(
    `none of the files is evidence: ${list}. Give a transparent statement, an evidence bundle, or a receipt with what it is for`,
    takenFor,
  );
}

/**
 * Says first that nothing is evidence, or that a zip or folder cannot be opened or contains none: a key manifest would not
 * help.
 * @throws {UsageError}
 */
export async function requireReadable(given: readonly EvidenceFile[]): Promise<void> {
  requireEvidence(given);
  for (const file of await withNamedDocuments(given)) {
    if (file.kind === 'bundle') await filesOfBundle(file);
    if (file.kind === 'folder') await file.folder!.replica();
  }
}

/** The files of these kinds, in the order in which they were given. */
type FilesOf = (...kinds: EvidenceKind[]) => readonly EvidenceFile[];

/** What was given by itself or carries a part by itself. Each piece gathers what the other files prove of it. */
interface Pieces {
  readonly events: readonly GivenEvent[];
  readonly statements: readonly GivenStatement[];
  readonly carried: readonly CarriedEntry[];
  readonly unread: readonly Partial<Findings>[];
}

async function readPieces(of: FilesOf): Promise<Pieces> {
  const { events, unread } = await readGivenEvents(of('event', 'event_list'));
  const plain = await readGivenStatements(of('statement'));
  const carried = await carriedEntries(of('transparent_statement'));
  return { events, statements: plain.statements, carried, unread: [...unread, ...plain.unread] };
}

async function checkFiles(files: readonly EvidenceFile[], trust: GivenTrust, progress: Progress): Promise<Verdict> {
  const of: FilesOf = (...kinds) => files.filter(({ kind }) => kinds.includes(kind));
  const pieces = await readPieces(of);
  const { carried } = pieces;
  // First what proves pieces of other files.
  const logged = createVerdict(await logFindings(of, pieces, trust, progress));
  const receipts = await receiptFindings(of('receipt'), pieces, trust);
  const found = [...pieces.unread];
  for (const file of of('transparent_statement')) found.push(await transparentVerdict(file, carried, trust));
  found.push(logged, ...receipts);
  found.push(...carriedFindings(carried, found));
  const bundles: Verdict[] = [];
  for (const file of of('bundle')) bundles.push(await bundleVerdict(file, trust));
  const { claims } = createVerdict(found, bundles);
  const own = await pieceFindings(of, pieces, claims, trust);
  const unbundled = createVerdict(found, own, of('key_manifest').map(unusedManifest));
  const checkedAlone = createVerdict(bundles, unwitnessed(unbundled, trust));
  const verdict = createVerdict(checkedAlone, await historyFindings(checkedAlone.claims));
  const named = of('document').flatMap(namedDocument);
  return withDocuments(createVerdict(verdict, ...keyFindings(verdict, files), ...named), of('document'), trust);
}

/** Checks the statements and events that were given by themselves, with what the claims and the other files prove of them. */
async function pieceFindings(
  of: FilesOf,
  { events, statements, carried }: Pieces,
  claims: readonly Claim[],
  trust: GivenTrust,
): Promise<Partial<Findings>[]> {
  // Without issuer keys, a receipt still proves that the statement is in a log, but not who signed it.
  const checksIssuers = statements.length > 0 && (trust.hasIssuers || of('receipt').length === 0);
  const issuers = checksIssuers ? await trust.issuers() : undefined;
  const found: Partial<Findings>[] = [];
  const proven = new Set(provenEntries(carried, claims));
  for (const statement of statements) {
    const verdict = await statementVerdict(statement, claims, issuers);
    if (verdict.claims.some(({ kind }) => kind === 'statement')) proven.add(toHex(statement.entry));
    found.push(verdict);
  }
  for (const { loose } of carried) if (loose) found.push(...otherLeavesOf(loose, claims));
  found.push(...(await agreementFindings(events, statements, carried, of('bundle'))));
  for (const event of events)
    found.push(await eventVerdict(event, claims, (entry) => proven.has(toHex(entry)), trust.issuer));
  return found;
}

async function receiptFindings(
  receipts: readonly EvidenceFile[],
  { events, statements, carried }: Pieces,
  trust: GivenTrust,
): Promise<readonly Partial<Findings>[]> {
  if (receipts.length === 0) return [];
  const stated = carried.flatMap((each) => each.stated ?? []);
  const keys = { ...trust, logKeys: await trust.logKeys() };
  return matchReceipts(receipts, [...statements, ...carried], [...events, ...stated], keys);
}

function unusedManifest({ path }: EvidenceFile): Partial<Findings> {
  const why = 'a list of keys, used only with the fingerprint of the root key, which checks it';
  return notCovered(path, 'explanation', why);
}

/** It may state things itself, which nobody must take for checked. */
function namedDocument({ path, form }: EvidenceFile): Partial<Findings>[] {
  if (form === undefined) return [];
  const why = `the document of other evidence, by its hash: as ${kindName(form)} it was not checked`;
  return [notCovered(path, 'explanation', why)];
}

/**
 * Files of keys are not evidence. Where evidence names a document and none was given, one of them may be meant as it: then
 * it is not the one.
 */
function keyFindings({ claims }: Verdict, files: readonly EvidenceFile[]): Partial<Findings>[] {
  const isAbout = claims.some(({ facts }) => facts.payload_hash !== undefined);
  const mayBeMeant = isAbout && !files.some(({ kind }) => kind === 'document');
  return files.flatMap(({ path, kind }) => {
    if (kind !== 'keys') return [];
    const keys = 'a file of keys: keys among the evidence are never trusted';
    if (!mayBeMeant) return [notCovered(path, 'explanation', keys)];
    return [notCovered(path, 'unproven', `${keys}, and as a document it is not the one that the evidence is about`)];
  });
}

/** Only bundles have a place for what witnesses signed. */
function unwitnessed(verdict: Verdict, { witnesses }: GivenTrust): Partial<Findings>[] {
  const asked = witnesses.length > 0 ? verdict.claims : [];
  return [verdict, ...asked.map(({ piece }) => nothingWitnessed(piece))];
}

async function statementTrust(trust: GivenTrust) {
  const { statementLog, tenancyLog, verifySignature } = trust;
  return { verifySignature, logKeys: await trust.logKeys(), ...(await trust.issuers()), statementLog, tenancyLog };
}

/** Its parts that no receipt in it proves may be proven by the other files. */
async function transparentVerdict(
  { path, bytes }: EvidenceFile,
  carried: readonly CarriedEntry[],
  trust: GivenTrust,
): Promise<Verdict> {
  const own = carried.find(({ file }) => file === path);
  const elsewhere = own && { statement: own.proofs, event: own.stated?.proofs ?? [] };
  const verdict = verdictWithin(path, await examineAmongOthers(bytes, await statementTrust(trust), elsewhere));
  // An event that does not agree with the statement is no claim.
  return ofOneOperation(verdict, path);
}

/** Compares each event with all other pieces that state it, and returns what refuses events of other pieces than files. */
async function agreementFindings(
  given: readonly GivenEvent[],
  plain: readonly GivenEntry[],
  carried: readonly CarriedEntry[],
  bundles: readonly EvidenceFile[],
): Promise<Partial<Findings>[]> {
  const others: StatedEvent[] = carried.flatMap(({ stated }) => stated ?? []);
  for (const bundle of bundles) others.push(...(await eventsOfBundle(bundle)));
  // A statement with an event beside it was compared with that one.
  compareEvents([...others, ...given], [...plain, ...carried.filter(({ stated }) => !stated)]);
  return others.flatMap(({ refusals }) => refusals);
}

async function logFindings(
  of: FilesOf,
  { events, carried }: Pieces,
  trust: GivenTrust,
  progress: Progress,
): Promise<Partial<Findings>[]> {
  if (of('folder', 'massif', 'seal').length === 0) return [];
  const open = [...events, ...carried.flatMap(({ loose }) => loose ?? [])];
  const { verifySignature, tenancyLog: log } = trust;
  // Folders are read first: a folder without evidence should be reported as that, not as evidence without keys.
  const replicas = await Promise.all(
    of('folder').map(async ({ path, folder }) => ({ path, ...(await folder!.replica()) })),
  );
  const keys = { logKeys: await trust.logKeys(), log, verifySignature };
  const found: Partial<Findings>[] = [];
  for (const { path, logs, others } of replicas) {
    for (const each of logs) found.push(await checkReplica(each, open, keys, progress));
    found.push(...besideLogs(path, others));
  }
  if (of('massif', 'seal').length > 0) found.push(await checkLogFiles(of('massif'), of('seal'), open, keys));
  return found;
}

/** Every document must match something that is proven. */
function withDocuments(verdict: Verdict, documents: readonly EvidenceFile[], trust: GivenTrust): Verdict {
  const found = documents.map(({ path, bytes }) => documentFindings(verdict.claims, bytes, path));
  const isAsked = trust.statementOnly || found.some(({ claims }) => !claims?.every(isAttachment));
  const missing = isAsked ? verdict.missing.filter(({ what }) => what !== 'document') : verdict.missing;
  return createVerdict({ ...verdict, missing }, ...found);
}
