import { equalBytes } from '../../core/bytes.js';
import { keyThumbprint } from '../../core/cose/cose-key.js';
import type { PublicJwk } from '../../core/cose/public-key.js';
import { decodeSign1 } from '../../core/cose/sign1.js';
import { VerificationError } from '../../core/errors.js';
import { massifPath, sealPath } from '../../core/massif/blob-paths.js';
import { leavesPerMassif } from '../../core/massif/massif-layout.js';
import { readMassif } from '../../core/massif/read-massif.js';
import { inclusionProofPath } from '../../core/mmr/inclusion-proof-path.js';
import { leafCount, mmrIndex } from '../../core/mmr/leaf-count.js';
import { peakSlot } from '../../core/mmr/peak-slot.js';
import { peaks } from '../../core/mmr/peaks.js';
import { readLogClaims } from '../../core/receipt/log-claims.js';
import { attachInclusion } from '../../core/receipt/mmr-receipt.js';
import { checkHolds, checkNotOlder } from '../../core/verify/verify-consistency.js';
import { type ProvenMassif, proveLog, type SealedMassif, verifySealOfMassif } from '../../core/verify/verify-log.js';
import { recomputeMassif } from '../../core/verify/verify-massif.js';
import { type ReceiptTrust, verifyMmrReceipt, verifyReceiptSignature } from '../../core/verify/verify-receipt.js';
import { fetchFile, LogUnreachable, requireFile } from './fetch-file.js';
import { type KeptFiles, StateDamaged } from './kept-files.js';

/** An MMR log to follow, by the tenancy that it is of. */
interface FollowedMmrLog {
  /** Base of the service. */
  readonly url: string;
  readonly tenancy: string;
  readonly trust: ReceiptTrust;
  /** Keys that were revoked: what they sealed counts only if it was seen before, or if the log goes on after it. */
  readonly revokedKeys?: readonly PublicJwk[] | undefined;
  /** Fractions of 1, for the sample of each seal. */
  readonly random: () => number;
}

/** What an MMR log is remembered by; it changes with each new state. */
export const SEAL = 'head.sth';
const MASSIF = 'head.log';
const SAMPLE = 8;

const fileUrl = (log: FollowedMmrLog, path: string) => `${log.url}/verifiabledata/merklelogs/${path}`;
const sealOf = (log: FollowedMmrLog, number: number) => fetchFile(fileUrl(log, sealPath(log.tenancy, number)));

function everyKey({ trust, revokedKeys = [] }: FollowedMmrLog): ReceiptTrust {
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

/** Receipts of each peak and of random leaves, put together from the seal as any client would: each has to verify. */
async function checkReceipts(log: FollowedMmrLog, { massif, seal }: ProvenMassif): Promise<void> {
  const { size } = seal.state;
  const peakIndices = peaks(size);
  if (seal.peakReceipts.length !== peakIndices.length)
    throw new VerificationError('receipt_missing', 'the seal does not carry one receipt for each of its peaks');
  for (const [slot, peak] of peakIndices.entries()) {
    const sign1 = decodeSign1(seal.peakReceipts[slot]!);
    const claims = readLogClaims(sign1.protectedHeader);
    await verifyReceiptSignature({ sign1, ...claims }, massif.nodeAt(peak), log.trust, `the receipt of peak ${peak}`);
  }
  const leaves = Number(leafCount(size) - massif.firstLeaf);
  for (let drawn = 0; drawn < SAMPLE; drawn += 1) {
    const index = mmrIndex(massif.firstLeaf + BigInt(Math.floor(log.random() * leaves)));
    const path = inclusionProofPath(size, index);
    const signed = seal.peakReceipts[peakSlot(leafCount(size), path.length)]!;
    const receipt = attachInclusion(signed, index, path.map(massif.nodeAt), 'draft');
    await verifyMmrReceipt(receipt, massif.nodeAt(index), { ...log.trust, mmrIndex: index });
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
    return { massif, seal: await verifySealOfMassif(seal, massif, everyKey(log)) };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new StateDamaged(`the saved state does not verify with these keys: ${error.message} [${error.code}]`);
  }
}

/**
 * Looks at an MMR log once: every massif from the last seen one on must recompute and be sealed, the first must hold all
 * that was seen, and the receipts in the newest seal must verify. Then, and only then, the new state is kept. Resolves
 * with a sentence on what was seen.
 * @throws {VerificationError} at a fork, a rollback, or a forged or damaged file
 * @throws {StateDamaged} if the saved state is damaged
 * @throws {LogUnreachable} if the log cannot be read
 */
export async function followMmrLog(log: FollowedMmrLog, kept: KeptFiles): Promise<string> {
  const seen = await lastSeen(log, kept);
  const fetched: Fetched = {};
  try {
    const head = await proveOn(log, seen, filesFrom(log, seen?.massif.index ?? 0, fetched));
    if (!head) return 'nothing is sealed yet';
    // The massif first: after a crash between the two the older seal still lies within it.
    await kept.write(MASSIF, fetched.files!.massif);
    await kept.write(SEAL, fetched.files!.seal);
    const { size, sealedAtMs } = head.seal.state;
    const when = new Date(sealedAtMs).toISOString();
    return `${leafCount(size)} leaves in ${head.massif.index + 1} massifs, sealed at ${when}`;
  } catch (error) {
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

async function proveOn(
  log: FollowedMmrLog,
  seen: ProvenMassif | undefined,
  files: AsyncIterable<SealedMassif>,
): Promise<ProvenMassif | undefined> {
  let head: ProvenMassif | undefined;
  for await (const proven of proveLog(files, everyKey(log))) {
    if (seen) checkNotOlder(proven.seal, seen.seal);
    if (seen && !head) checkHolds(proven.massif, seen);
    head = proven;
  }
  if (seen && !head)
    throw new VerificationError('consistency_invalid', `massif ${seen.massif.index} and its seal are gone: a rollback`);
  if (head && !isSame(head, seen)) checkNewest(log, head);
  if (head) await checkReceipts(isRevoked(log, head) ? { ...log, trust: everyKey(log) } : log, head);
  return head;
}
