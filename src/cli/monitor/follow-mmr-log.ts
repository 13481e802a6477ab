import { equalBytes, utf8 } from '../../core/bytes.js';
import { keyThumbprint } from '../../core/cose/cose-key.js';
import type { PublicJwk } from '../../core/cose/public-key.js';
import { decodeSign1 } from '../../core/cose/sign1.js';
import { VerificationError } from '../../core/errors.js';
import type { OpenFork, SeenLog } from '../../core/fork/judge-fork.js';
import { firstName, parseGeneration } from '../../core/fork/log-generation.js';
import { massifPath, sealPath } from '../../core/massif/blob-paths.js';
import { leavesPerMassif } from '../../core/massif/massif-layout.js';
import { readMassif } from '../../core/massif/read-massif.js';
import { inclusionProofPath } from '../../core/mmr/inclusion-proof-path.js';
import { leafCount, mmrIndex } from '../../core/mmr/leaf-count.js';
import { peakSlot } from '../../core/mmr/peak-slot.js';
import { peaks } from '../../core/mmr/peaks.js';
import { type ReadLogClaims, readLogClaims } from '../../core/receipt/log-claims.js';
import { attachInclusion } from '../../core/receipt/mmr-receipt.js';
import type { LogTrust } from '../../core/verify/trust.js';
import { checkHolds, checkNotOlder } from '../../core/verify/verify-consistency.js';
import { type ProvenMassif, proveLog, type SealedMassif, verifySealOfMassif } from '../../core/verify/verify-log.js';
import { recomputeMassif } from '../../core/verify/verify-massif.js';
import { verifyMmrReceipt, verifyReceiptSignature } from '../../core/verify/verify-receipt.js';
import { counted } from '../counted.js';
import { checkReached, comparedText, compareWaiting, type RegisteredComparison } from './compare-registered.js';
import { checkCovered, rememberCovered } from './covered-leaves.js';
import { fetchFile, LogUnreachable, requireFile } from './fetch-file.js';
import { FORK, fetchForks, followFork, forkText } from './follow-fork.js';
import { checkFork, checkKept, comparedLeaves, holdsLeaf } from './forked-massif.js';
import { type KeptFiles, SIZE, StateDamaged } from './kept-files.js';
import { type AreKeysOutdated, checkNotOutdated } from './keys-outdated.js';
import { keepWaiting } from './registered-seals.js';

/** An MMR log to follow, by the tenancy that it is of. */
interface FollowedMmrLog {
  /** Base of the service. */
  readonly url: string;
  readonly tenancy: string;
  /** The name that it began with; an open fork adds a generation to it. */
  readonly subject: string;
  readonly trust: LogTrust;
  /** Keys that were revoked: what they sealed counts only if it was seen before, or if the log goes on after it. */
  readonly revokedKeys?: readonly PublicJwk[] | undefined;
  readonly outdated?: AreKeysOutdated | undefined;
  /** Fractions of 1, for the sample of each seal. */
  readonly random: () => number;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Registered seals must cover it: all entries that witnesses have cosigned were read. */
  readonly mustBeCovered: () => boolean;
}

/** What an MMR log is remembered by. */
const SEAL = 'head.sth';
const MASSIF = 'head.log';
const SAMPLE = 8;

const fileUrl = (log: FollowedMmrLog, path: string) => `${log.url}/verifiabledata/merklelogs/${path}`;
const forksUrl = (log: FollowedMmrLog) => fileUrl(log, `v1/mmrs/tenant/${log.tenancy}/0/forks`);
const sealOf = (log: FollowedMmrLog, number: number) => fetchFile(fileUrl(log, sealPath(log.tenancy, number)));

function everyKey({ trust, revokedKeys = [] }: FollowedMmrLog): LogTrust {
  return { ...trust, logKeys: [...trust.logKeys, ...revokedKeys] };
}

/** The files that were fetched last: the evidence when they do not hold. */
interface Fetched {
  files?: SealedMassif;
}

/** One massif and its seal. The seal first: a massif may only be ahead. */
async function fetchSealed(log: FollowedMmrLog, number: number, fetched: Fetched): Promise<SealedMassif | undefined> {
  const seal = await sealOf(log, number);
  if (!seal) return undefined;
  fetched.files = { seal, massif: await requireFile(fileUrl(log, massifPath(log.tenancy, number))) };
  return fetched.files;
}

function isFull(massif: Uint8Array): boolean {
  const { entries, height } = readMassif(massif);
  return entries.length === leavesPerMassif(height);
}

/**
 * The files of a log from a massif on, one after the other: who takes each has checked the one before it, so that a
 * server which makes up ever more of them is stopped at the first.
 */
async function* filesFrom(log: FollowedMmrLog, from: number, fetched: Fetched): AsyncGenerator<SealedMassif> {
  for (let number = from; ; number += 1) {
    let files = await fetchSealed(log, number, fetched);
    if (!files) return;
    const more = (await sealOf(log, number + 1)) !== undefined;
    // It has grown over the massif's end in between.
    if (more && !isFull(files.massif)) files = (await fetchSealed(log, number, fetched)) ?? files;
    yield files;
    if (!more) return;
  }
}

/** The name of the log in one of its seals. @throws {VerificationError} `log_mismatch` */
function nameIn({ subject }: FollowedMmrLog, seal: ReadLogClaims): string {
  if (seal.subject === undefined || firstName(seal.subject) !== subject)
    throw new VerificationError('log_mismatch', `signed by the log "${seal.subject}", not by "${subject}"`);
  return seal.subject;
}

/** Checks the receipts of all peaks that the seal carries, and those that any client can make from them for random leaves. */
async function checkReceipts(log: FollowedMmrLog, { massif, seal }: ProvenMassif): Promise<void> {
  const { size } = seal.state;
  const trust = { ...log.trust, log: { subject: nameIn(log, seal) } };
  const peakIndices = peaks(size);
  if (seal.peakReceipts.length !== peakIndices.length)
    throw new VerificationError('receipt_missing', 'the seal does not carry one receipt for each of its peaks');
  for (const [slot, peak] of peakIndices.entries()) {
    const sign1 = decodeSign1(seal.peakReceipts[slot]!);
    const claims = readLogClaims(sign1.protectedHeader);
    await verifyReceiptSignature({ sign1, ...claims }, massif.nodeAt(peak), trust, `the receipt of peak ${peak}`);
  }
  const leaves = Number(leafCount(size) - massif.firstLeaf);
  for (let drawn = 0; drawn < SAMPLE; drawn += 1) {
    const index = mmrIndex(massif.firstLeaf + BigInt(Math.floor(log.random() * leaves)));
    const path = inclusionProofPath(size, index);
    const signed = seal.peakReceipts[peakSlot(leafCount(size), path.length)]!;
    const receipt = attachInclusion(signed, index, path.map(massif.nodeAt), 'draft');
    await verifyMmrReceipt(receipt, massif.nodeAt(index), { ...trust, mmrIndex: index });
  }
}

/** The last state that was seen, checked again: a disk fails too. @throws {StateDamaged} */
async function lastSeen(log: FollowedMmrLog, kept: KeptFiles): Promise<ProvenMassif | undefined> {
  const [seal, bytes] = [await kept.read(SEAL), await kept.read(MASSIF)];
  // A crash in the very first look leaves a massif alone: nothing was said of the log yet.
  if (!seal) return undefined;
  try {
    if (!bytes) throw new VerificationError('insufficient_data', `${MASSIF} is missing`);
    const massif = recomputeMassif(bytes);
    const verified = await verifySealOfMassif(seal, massif, everyKey(log));
    nameIn(log, verified);
    return { massif, seal: verified };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new StateDamaged(`the saved state does not verify with these keys: ${error.message} [${error.code}]`);
  }
}

async function keepHead(kept: KeptFiles, { massif, seal }: SealedMassif, head: ProvenMassif): Promise<void> {
  // The massif first: after a crash between the two the older seal still lies within it.
  await kept.write(MASSIF, massif);
  await kept.write(SEAL, seal);
  await kept.write(SIZE, utf8(String(head.seal.state.size)));
}

function headText(head: ProvenMassif | undefined): string {
  if (!head) return 'nothing is sealed yet';
  const { size, sealedAtMs } = head.seal.state;
  const when = new Date(sealedAtMs).toISOString();
  return `${counted(leafCount(size), 'leaf', 'leaves')} in ${counted(head.massif.index + 1, 'massif')}, sealed at ${when}`;
}

/**
 * Looks at an MMR log once: every massif from the last seen one on must recompute and be sealed, the first must hold all
 * that was seen, the receipts in the newest seal must verify, and no registered seal may contradict it. Then, and only
 * then, the new state is kept. Resolves with a sentence on what was seen.
 * @throws {VerificationError} at a fork, a rollback, a forged or damaged file, or if no cosigned checkpoint covers it
 * @throws {StateDamaged} if the saved state is damaged
 * @throws {LogUnreachable} if the log cannot be read, or only an older state than is registered
 * @throws {KeysOutdated} if it is signed with a newer key
 */
export async function followMmrLog(log: FollowedMmrLog, kept: KeptFiles): Promise<string> {
  const seen = await lastSeen(log, kept);
  const fetched: Fetched = {};
  try {
    const registered = await compareWaiting(everyKey(log), kept, log.outdated);
    const base = seen ? await baseOf(log, seen) : { from: 0 };
    const from = seen ? Math.min(base.from, registered.firstMassif(seen.massif.height) ?? base.from) : 0;
    const head = await proveOn(log, { ...base, from }, filesFrom(log, from, fetched), registered);
    const judged = await registered.judge(head, () => fetchForks(forksUrl(log)));
    if (head) await keepHead(kept, fetched.files!, head);
    // Before the seals are dropped: after a crash they are compared again.
    if (head) await rememberCovered(seenLog(log, head), judged.covered, seen && seenLog(log, seen), kept);
    await keepWaiting(kept, judged.ahead);
    if (base.fork) await kept.write(FORK, base.fork.newest.bytes);
    await checkReached(judged, kept, log.now());
    if (log.mustBeCovered()) await checkCovered(kept, log.now());
    const text = headText(head) + comparedText(judged);
    if (!base.fork) return text;
    return `${forkText(base.fork, seenLog(log, seen!), base.cut && comparedLeaves(base.fork, base.cut))}; ${text}`;
  } catch (error) {
    await checkNotOutdated(error, log.outdated);
    // Together with the saved state that they contradict, these files prove what the log did.
    if (error instanceof VerificationError && fetched.files) {
      await kept.alarm(MASSIF, fetched.files.massif);
      await kept.alarm(SEAL, fetched.files.seal);
    }
    throw error;
  }
}

const isSame = ({ seal }: ProvenMassif, seen: ProvenMassif | undefined): boolean =>
  seal.state.size === seen?.seal.state.size;

function isRevoked({ revokedKeys = [] }: FollowedMmrLog, { seal }: ProvenMassif): boolean {
  const thumbprint = keyThumbprint(seal.key);
  return revokedKeys.some((key) => equalBytes(keyThumbprint(key), thumbprint));
}

/** A thief can seal a state of its own; the service seals its log again with the new key. */
function checkNewest(log: FollowedMmrLog, head: ProvenMassif): void {
  if (!isRevoked(log, head)) return;
  throw new LogUnreachable('its newest seal is by a key that was revoked as stolen: this state is not adopted');
}

/** What is compared with the published log: what was seen, or what an open fork kept of it. */
interface Base {
  /** The first massif to fetch. */
  readonly from: number;
  readonly seen?: ProvenMassif | undefined;
  readonly fork?: OpenFork;
  /** What was seen, if the fork lost a part of it. */
  readonly cut?: ProvenMassif;
}

const seenLog = (log: FollowedMmrLog, { seal }: ProvenMassif): SeenLog => ({
  name: nameIn(log, seal),
  leaves: leafCount(seal.state.size),
});

/** Follows a log over an open fork, if one began since it was seen. @throws {VerificationError} if it is no open fork */
async function baseOf(log: FollowedMmrLog, seen: ProvenMassif): Promise<Base> {
  const from = seen.massif.index;
  const before = seenLog(log, seen);
  const forks = await fetchForks(forksUrl(log));
  const generation = (name: string) => parseGeneration(name)?.generation ?? 0;
  const newestName = forks
    .map((fork) => fork.log)
    .sort((a, b) => generation(a) - generation(b))
    .at(-1);
  if (newestName === undefined || generation(newestName) <= generation(before.name)) return { from, seen };
  const fork = await followFork(before, newestName, forks, everyKey(log).logKeys);
  const { ended, kept } = fork;
  if (kept === before.leaves) return { from, seen, fork };
  if (ended.last.leaves === before.leaves)
    nameIn(log, await verifySealOfMassif(ended.last.seal, seen.massif, everyKey(log)));
  return { from: Number(kept / BigInt(leavesPerMassif(seen.massif.height))), fork, cut: seen };
}

/** The name of the newest seal is the one that was seen, or the one that an open fork gave. */
function checkName(log: FollowedMmrLog, { seen, fork }: Base, head: ProvenMassif): void {
  const expected = fork?.newest.log ?? (seen && nameIn(log, seen.seal));
  const name = nameIn(log, head.seal);
  if (expected !== undefined && name !== expected)
    throw new VerificationError('consistency_invalid', `the log is "${name}", not "${expected}": a silent fork`);
}

async function proveOn(
  log: FollowedMmrLog,
  base: Base,
  files: AsyncIterable<SealedMassif>,
  registered: RegisteredComparison,
): Promise<ProvenMassif | undefined> {
  const { seen, fork, cut } = base;
  let head: ProvenMassif | undefined;
  let begun = fork === undefined;
  for await (const proven of proveLog(files, everyKey(log))) {
    if (head) await registered.compare(head.massif, head.massif.size);
    nameIn(log, proven.seal);
    if (fork && cut && holdsLeaf(fork.kept, proven)) checkKept(fork, proven.massif, cut);
    if (fork && holdsLeaf(fork.newest.leaves, proven)) {
      checkFork(fork, proven.massif);
      begun = true;
    }
    if (seen && proven.massif.index >= seen.massif.index) checkNotOlder(proven.seal, seen.seal);
    if (seen && proven.massif.index === seen.massif.index) checkHolds(proven.massif, seen.massif, seen.seal.state.size);
    head = proven;
  }
  const next = head ? head.massif.index + 1 : base.from;
  if (seen && next <= seen.massif.index)
    throw new VerificationError('consistency_invalid', `massif ${next} and its seal are gone: a rollback`);
  if (head) await registered.compare(head.massif, head.seal.state.size);
  if (!begun)
    throw new VerificationError('consistency_invalid', 'no sealed massif holds the fork statement: a silent fork');
  if (head) checkName(log, base, head);
  if (head && !isSame(head, seen)) checkNewest(log, head);
  if (head) await checkReceipts(isRevoked(log, head) ? { ...log, trust: everyKey(log) } : log, head);
  return head;
}
