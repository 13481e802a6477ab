import { DataStructure } from '../core/cose/labels.js';
import type { PublicJwk } from '../core/cose/public-key.js';
import { VerificationError } from '../core/errors.js';
import { receiptStructure } from '../core/receipt/receipt-proof.js';
import type { NoteKey } from '../core/tlog/signed-note.js';
import type { ExpectedLog, IssuerTrust } from '../core/verify/trust.js';
import { refused, runStep, type VerificationReport } from '../core/verify/verification-report.js';
import { verifyReceipt } from '../core/verify/verify-receipt.js';
import { verifyStatement } from '../core/verify/verify-statement.js';
import { examineTransparentStatement } from '../core/verify/verify-transparent-statement.js';
import { openBundle } from './evidence-bundle.js';
import { type EvidenceFile, type EvidenceKind, readEvidence, UsageError } from './evidence-file.js';
import { checkReplica, checkSeals, eventsOf, type Progress, replicaOfFiles, type Step } from './log-evidence.js';
import { checkPublicAsset } from './public-asset-evidence.js';
import { findReplicas } from './replica-folder.js';
import { witnessSteps } from './witness-evidence.js';

/** The keys that the caller trusts; asked for only when a check needs them. */
export interface GivenTrust {
  /** @throws {UsageError} when none were given */
  logKeys(): Promise<readonly PublicJwk[]>;
  /** @throws {UsageError} when none were given */
  issuers(): Promise<IssuerTrust>;
  readonly statementLog: ExpectedLog;
  readonly tenancyLog: ExpectedLog;
  readonly witnesses: readonly NoteKey[];
  /** How many of the witnesses have to have cosigned. */
  readonly quorum: number;
  /** Origin of the checkpoints that witnesses cosign. */
  readonly witnessedLog: string | undefined;
  /** A transparent statement may be checked without its document. */
  readonly statementOnly: boolean;
}

export type EvidenceReport = VerificationReport<string>;

const HOW =
  'give one of: a vCon with its transparent statement or its evidence bundle; an event with its log (a replica folder, or a massif and its seal); a receipt with its statement or event; two seals with the massifs between; a replica folder; a public asset’s URL';

function report(steps: readonly Step[]): EvidenceReport {
  return { verified: steps.length > 0 && steps.every(({ outcome }) => outcome !== 'refused'), steps };
}

/**
 * Checks what the files are evidence of; which check that is follows from what they hold.
 * @throws {UsageError} when they make no check, or cannot be read
 */
export async function verifyEvidence(
  paths: readonly string[],
  trust: GivenTrust,
  progress: Progress,
): Promise<EvidenceReport> {
  const [url] = paths;
  const isUrl = url !== undefined && /^https?:\/\//.test(url);
  if (isUrl && paths.length > 1) throw new UsageError('a public asset’s URL stands alone');
  const files = isUrl ? [] : await Promise.all(paths.map(readEvidence));
  try {
    if (!isUrl) return await checkFiles(files, trust, progress);
    return report(await checkPublicAsset(url, { logKeys: await trust.logKeys(), log: trust.tenancyLog }, progress));
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return report([refused('evidence', error)]);
  }
}

function checkFiles(files: readonly EvidenceFile[], trust: GivenTrust, progress: Progress): Promise<EvidenceReport> {
  const of = (...kinds: EvidenceKind[]) => files.filter(({ kind }) => kinds.includes(kind));
  const [folders, bundles, receipts] = [of('folder'), of('bundle'), of('receipt')];
  if (folders.length > 0) return checkFolders(folders, of('event', 'event list'), files, trust, progress);
  if (bundles.length > 0) return checkBundle(files, trust);
  if (receipts.length > 0) return checkReceipt(files, trust);
  if (of('massif', 'seal').length > 0) return checkLogFiles(of, files, trust, progress);
  return checkStatement(files, trust);
}

async function checkFolders(
  folders: readonly EvidenceFile[],
  eventFiles: readonly EvidenceFile[],
  files: readonly EvidenceFile[],
  trust: GivenTrust,
  progress: Progress,
): Promise<EvidenceReport> {
  if (folders.length !== 1 || files.length !== 1 + eventFiles.length) throw new UsageError(HOW);
  const logs = await findReplicas(folders[0]!.path);
  if (eventFiles.length > 0 && logs.length > 1)
    throw new UsageError(`${folders[0]!.path} holds ${logs.length} logs: name the one that has the event`);
  const logTrust = { logKeys: await trust.logKeys(), log: trust.tenancyLog };
  const events = eventFiles.flatMap(eventsOf);
  const steps: Step[] = [];
  for (const log of logs) steps.push(...(await checkReplica(log, events, logTrust, progress)));
  return report(steps);
}

async function checkLogFiles(
  of: (...kinds: EvidenceKind[]) => EvidenceFile[],
  files: readonly EvidenceFile[],
  trust: GivenTrust,
  progress: Progress,
): Promise<EvidenceReport> {
  const [massifs, seals, events] = [of('massif'), of('seal'), of('event', 'event list')];
  if (massifs.length + seals.length + events.length !== files.length || massifs.length === 0) throw new UsageError(HOW);
  const logTrust = { logKeys: await trust.logKeys(), log: trust.tenancyLog };
  const [older, newer] = seals;
  const compares = older && newer && seals.length === 2 && events.length === 0;
  if (compares) return report(await checkSeals([older, newer], massifs, logTrust));
  return report(await checkReplica(replicaOfFiles(massifs, seals), events.flatMap(eventsOf), logTrust, progress));
}

async function checkReceipt(files: readonly EvidenceFile[], trust: GivenTrust): Promise<EvidenceReport> {
  const receipt = files.find(({ kind }) => kind === 'receipt')!;
  const [of, ...more] = files.filter((file) => file !== receipt);
  if (!of || more.length > 0) throw new UsageError('give a receipt with the statement or the event that it is for');
  const logKeys = await trust.logKeys();
  const step = await runStep('receipt', async () => {
    if (of.kind === 'event') {
      const [event] = eventsOf(of);
      await verifyReceipt(receipt.bytes, { event: event! }, { logKeys, log: trust.tenancyLog });
      return `${event!.identity} is in the log`;
    }
    if (receiptStructure(receipt.bytes) !== DataStructure.rfc9162Sha256)
      throw new VerificationError('unsupported', 'a tenancy log’s receipt is for an event: give the event’s JSON');
    await verifyReceipt(receipt.bytes, { statement: of.bytes }, { logKeys, log: trust.statementLog });
    return 'the statement is in the log';
  });
  return report([step]);
}

async function checkStatement(files: readonly EvidenceFile[], trust: GivenTrust): Promise<EvidenceReport> {
  const [first, second, ...more] = files;
  if (!first || more.length > 0) throw new UsageError(HOW);
  if (!second && first.kind === 'statement') {
    const issuers = await trust.issuers();
    const step = await runStep('statement_signature', async () => {
      const { issuer, subject } = await verifyStatement(first.bytes, issuers);
      return `signed by ${issuer} about ${subject}`;
    });
    return report([step]);
  }
  if (trust.statementOnly ? second : !second)
    throw new UsageError(trust.statementOnly ? 'with --statement-only, give the transparent statement alone' : HOW);
  return second ? examine(second.bytes, first.bytes, trust) : examine(first.bytes, undefined, trust);
}

/** Bytes that cannot even be taken apart are refused evidence, with one step to show for it. */
async function examine(
  statement: Uint8Array,
  document: Uint8Array | undefined,
  trust: GivenTrust,
): Promise<EvidenceReport> {
  const { statementLog, tenancyLog } = trust;
  const keys = { logKeys: await trust.logKeys(), ...(await trust.issuers()) };
  try {
    return await examineTransparentStatement(statement, { ...keys, document, statementLog, tenancyLog });
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const why = new VerificationError(error.code, `not a transparent statement: ${error.message}`);
    return report([refused('statement_signature', why)]);
  }
}

/** Every statement of a bundle has to hold, and one of them has to be about the document. */
async function checkBundle(files: readonly EvidenceFile[], trust: GivenTrust): Promise<EvidenceReport> {
  const bundle = files.find(({ kind }) => kind === 'bundle')!;
  const [document, ...more] = files.filter((file) => file !== bundle);
  if (more.length > 0) throw new UsageError('give an evidence bundle alone, or with the vCon that it is about');
  const statements = openBundle(bundle.bytes);
  const steps: Step[] = [];
  const matches: string[] = [];
  for (const { name, bytes, witness } of statements) {
    const { steps: examined } = await examine(bytes, document?.bytes, trust);
    const each: readonly Step[] = [...examined, ...(await witnessSteps(bytes, witness, trust))];
    // Other statements are about other states of the vCon.
    const [payload, ...rest] = each[0]?.step === 'payload_hash' ? each : [undefined, ...each];
    if (payload?.outcome === 'verified') matches.push(`${name}: ${payload.detail}`);
    steps.push(...rest.map((step) => ({ ...step!, step: `${name} ${step!.step}` })));
  }
  if (document) steps.unshift(await documentStep(matches));
  return report(steps);
}

function documentStep(matches: readonly string[]): Promise<Step> {
  return runStep('payload_hash', () => {
    if (matches.length > 0) return matches.join('; ');
    throw new VerificationError('payload_hash_mismatch', 'no statement in the bundle is about this file');
  });
}
