import { VerificationError } from '../../core/errors.js';
import { massifPath, sealPath } from '../../core/massif/blob-paths.js';
import { inclusionProofPath } from '../../core/mmr/inclusion-proof-path.js';
import { leafCount, mmrIndex } from '../../core/mmr/leaf-count.js';
import { peakSlot } from '../../core/mmr/peak-slot.js';
import { attachInclusion } from '../../core/receipt/mmr-receipt.js';
import { verifyConsistency } from '../../core/verify/verify-consistency.js';
import { type ProvenMassif, proveLog, verifySealOfMassif } from '../../core/verify/verify-log.js';
import { recomputeMassif } from '../../core/verify/verify-massif.js';
import { type ReceiptTrust, verifyMmrReceipt } from '../../core/verify/verify-receipt.js';
import { fetchFile, requireFile } from './fetch-file.js';
import type { KeptFiles } from './kept-files.js';

/** An MMR log to follow, by the tenancy that it is of. */
export interface FollowedMmrLog {
  /** Base of the service. */
  readonly url: string;
  readonly tenancy: string;
  readonly trust: ReceiptTrust;
  /** Fractions of 1, for the sample of each seal. */
  readonly random: () => number;
}

const SEAL = 'head.sth';
const MASSIF = 'head.log';
const SAMPLE = 8;

interface Head {
  readonly number: number;
  readonly seal: Uint8Array;
  readonly massifs: readonly Uint8Array[];
}

const fileUrl = (log: FollowedMmrLog, path: string) => `${log.url}/verifiabledata/merklelogs/${path}`;

/** The newest seal at or after a massif, and the massif files up to it. Seals first: a massif may only be ahead. */
async function readHead(log: FollowedMmrLog, from: number): Promise<Head | undefined> {
  let [number, seal] = [from, await fetchFile(fileUrl(log, sealPath(log.tenancy, from)))];
  if (!seal) return undefined;
  for (;;) {
    const next = await fetchFile(fileUrl(log, sealPath(log.tenancy, number + 1)));
    if (!next) break;
    [number, seal] = [number + 1, next];
  }
  const massifs: Uint8Array[] = [];
  for (let each = from; each <= number; each += 1)
    massifs.push(await requireFile(fileUrl(log, massifPath(log.tenancy, each))));
  return { number, seal, massifs };
}

async function proveFromStart(log: FollowedMmrLog, head: Head): Promise<ProvenMassif> {
  const files = await Promise.all(
    head.massifs.map(async (massif, number) => ({
      massif,
      seal: number === head.number ? head.seal : await requireFile(fileUrl(log, sealPath(log.tenancy, number))),
    })),
  );
  let last: ProvenMassif | undefined;
  for await (const proven of proveLog(files, log.trust)) last = proven;
  return last!;
}

/** Receipts of random leaves, put together from the seal as any client would: each has to verify. */
async function checkSample(log: FollowedMmrLog, { massif, seal }: ProvenMassif): Promise<void> {
  const { size } = seal.state;
  const leaves = Number(leafCount(size) - massif.firstLeaf);
  for (let drawn = 0; drawn < SAMPLE; drawn += 1) {
    const index = mmrIndex(massif.firstLeaf + BigInt(Math.floor(log.random() * leaves)));
    const path = inclusionProofPath(size, index);
    const signed = seal.peakReceipts[peakSlot(leafCount(size), path.length)];
    if (!signed) throw new VerificationError('receipt_missing', `the seal carries no receipt for node ${index}`);
    const receipt = attachInclusion(signed, index, path.map(massif.nodeAt), 'draft');
    await verifyMmrReceipt(receipt, massif.nodeAt(index), { ...log.trust, mmrIndex: index });
  }
}

/**
 * Looks at an MMR log once: its newest seal must be signed, extend the one that was seen last, and cover a massif whose
 * every node recomputes; a sample of receipts must verify. Then, and only then, the new state is kept. Resolves with a
 * sentence on what was seen.
 * @throws {VerificationError} when the log is not what it was: a fork, a rollback, a forged or damaged file
 * @throws {LogUnreachable} when nothing can be said
 */
export async function followMmrLog(log: FollowedMmrLog, kept: KeptFiles): Promise<string> {
  const [oldSeal, oldMassif] = [await kept.read(SEAL), await kept.read(MASSIF)];
  const old = oldSeal && oldMassif ? { seal: oldSeal, massif: oldMassif } : undefined;
  const from = old ? recomputeMassif(old.massif).index : 0;
  const head = await readHead(log, from);
  if (!head) {
    if (!old) return 'nothing is sealed yet';
    throw new VerificationError('consistency_invalid', `massif ${from} and its seal are gone: a rollback`);
  }
  const proven = await prove(log, old, head, kept);
  // The massif first: after a crash between the two the older seal still lies within it.
  await kept.write(MASSIF, head.massifs.at(-1)!);
  await kept.write(SEAL, head.seal);
  return `${leafCount(proven.seal.state.size)} leaves in ${head.number + 1} massifs`;
}

async function prove(
  log: FollowedMmrLog,
  old: { seal: Uint8Array; massif: Uint8Array } | undefined,
  head: Head,
  kept: KeptFiles,
): Promise<ProvenMassif> {
  try {
    const proven = old ? await extend(log, old, head) : await proveFromStart(log, head);
    await checkSample(log, proven);
    return proven;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    // Beside the state that they contradict, these are the proof of what the log did.
    await kept.write(`alarm/${MASSIF}`, head.massifs.at(-1)!);
    await kept.write(`alarm/${SEAL}`, head.seal);
    throw error;
  }
}

async function extend(
  log: FollowedMmrLog,
  old: { seal: Uint8Array; massif: Uint8Array },
  head: Head,
): Promise<ProvenMassif> {
  await verifyConsistency(old, head, log.trust);
  const massif = recomputeMassif(head.massifs.at(-1)!);
  return { massif, seal: await verifySealOfMassif(head.seal, massif, log.trust) };
}
