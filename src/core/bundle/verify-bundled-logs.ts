import { VerificationError } from '../errors.js';
import { type BlobPath, parseBlobPath } from '../massif/blob-paths.js';
import { tenancyOfLog } from '../receipt/log-claims.js';
import type { EventDocument } from '../statement/event-document.js';
import { tenancyOfEvent } from '../verify/event-facts.js';
import { copyOf, holding } from '../verify/held-copy.js';
import { placedSeal, sealProof } from '../verify/proofs.js';
import { sealRemarks } from '../verify/time-remarks.js';
import { createVerdict, type Findings, failure, findingsOf, notCovered } from '../verify/verdict.js';
import { eventCommit } from '../verify/verify-event.js';
import { type ProvenMassif, peaksAt, proveLog, type SealedMassif, unsealedNodes } from '../verify/verify-log.js';
import { verifyPeakReceipts } from '../verify/verify-peak-receipts.js';
import type { ReceiptTrust } from '../verify/verify-receipt.js';
import type { BundleFiles } from './bundle-index.js';
import { blobPathOf } from './bundle-layout.js';

/** A massif of a bundle and its seal. */
interface BundledMassif extends SealedMassif {
  readonly path: string;
  readonly sealPath: string;
  readonly tenancy: string;
  readonly number: number;
}

/** The proven logs of a bundle. */
export interface BundledLogs {
  readonly findings: readonly Partial<Findings>[];
  /** The massif that has an event's place under its seal, in a log that may be the event's own. */
  massifOf(event: EventDocument): ProvenMassif | undefined;
}

interface Halves {
  readonly at: BlobPath;
  massif?: string;
  seal?: string;
}

/** Massifs with their seals, in log order; a half without the other is named. */
function pair(files: BundleFiles): { massifs: BundledMassif[]; findings: Partial<Findings>[] } {
  const halves = new Map<string, Halves>();
  for (const path of Object.keys(files)) {
    const at = parseBlobPath(blobPathOf(path) ?? '');
    if (!at) continue;
    const key = `${at.tenancyUuid}/${String(at.number).padStart(16, '0')}`;
    halves.set(key, { ...(halves.get(key) ?? { at }), [at.kind]: path });
  }
  const massifs: BundledMassif[] = [];
  const findings: Partial<Findings>[] = [];
  for (const [, { at, massif, seal }] of [...halves].sort(([left], [right]) => (left < right ? -1 : 1)))
    if (massif !== undefined && seal !== undefined)
      massifs.push({
        path: massif,
        sealPath: seal,
        tenancy: at.tenancyUuid,
        number: at.number,
        massif: files[massif]!,
        seal: files[seal]!,
      });
    else findings.push(notCovered((massif ?? seal)!, 'unproven', `its ${massif ? 'seal' : 'massif'} is missing`));
  return { massifs, findings };
}

/** Consecutive massifs of one log. */
function runsOf(massifs: readonly BundledMassif[]): BundledMassif[][] {
  const runs: BundledMassif[][] = [];
  for (const each of massifs) {
    const last = runs.at(-1)?.at(-1);
    if (last?.tenancy === each.tenancy && last.number + 1 === each.number) runs.at(-1)!.push(each);
    else runs.push([each]);
  }
  return runs;
}

/** Checks that a file belongs to the log and massif number that its path names: a swapped file could pass the other checks. */
function checkPlace({ tenancy, number }: BundledMassif, { massif, seal }: ProvenMassif): void {
  if (massif.index !== number)
    throw new VerificationError('massif_corrupt', `the file of massif ${number} holds massif ${massif.index}`);
  if (tenancyOfLog(seal) !== tenancy)
    throw new VerificationError('log_mismatch', `the log of tenancy ${tenancy} is "${seal.subject}"`);
}

/** Parts of a log's files that no peak covers. The seal signs only the newest idtimestamp. */
const TRIE = 'the peaks do not cover the data that the massif stores beside each leaf';

interface ProvenRun {
  readonly proven: readonly ProvenMassif[];
  readonly findings: Partial<Findings>;
}

async function verifyRun(run: readonly BundledMassif[], trust: ReceiptTrust): Promise<ProvenRun> {
  const proven: ProvenMassif[] = [];
  const findings: Partial<Findings>[] = [];
  try {
    for await (const each of proveLog(run, trust)) {
      const file = run[proven.length]!;
      checkPlace(file, each);
      proven.push(each);
      findings.push(await findingsOf(file.sealPath, () => checkSealReceipts(each, trust)));
    }
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return { proven, findings: createVerdict(...findings, failure(halfAtFault(run[proven.length]!, error), error)) };
  }
  return { proven, findings: createVerdict(...findings, logClaim(run[0]!, proven)) };
}

/** Which of the two files an error is about. */
function halfAtFault({ path, sealPath }: BundledMassif, { code }: VerificationError): string {
  return code === 'massif_corrupt' || code === 'consistency_invalid' ? path : sealPath;
}

async function checkSealReceipts({ massif, seal }: ProvenMassif, trust: ReceiptTrust): Promise<Partial<Findings>> {
  await verifyPeakReceipts(seal, peaksAt(massif, seal.state.size), trust);
  return {};
}

function logClaim({ tenancy, number }: BundledMassif, proven: readonly ProvenMassif[]): Partial<Findings> {
  const last = proven.at(-1)!;
  const { massif, seal } = last;
  const facts = {
    first_massif: String(number),
    last_massif: String(massif.index),
    size: String(seal.state.size),
  };
  const piece = `log/tenant/${tenancy}`;
  const seals = proven.map((each) => each.seal);
  const copy = copyOf(
    proven.map((each) => each.massif),
    seals,
  );
  return createVerdict(
    {
      claims: [
        {
          kind: 'log',
          piece,
          facts,
          by: [holding(sealProof(seal), copy, seals)],
        },
      ],
    },
    notCovered(piece, 'by_design', TRIE, ['trie_keys', 'trie_extra_bytes', 'trie_idtimestamps']),
    unsealedNodes(piece, last),
    { remarks: sealRemarks(proven.map((each) => placedSeal(piece, each.seal))) },
  );
}

function holds({ massif, seal }: ProvenMassif, event: EventDocument): boolean {
  const index = BigInt(eventCommit(event).index);
  const isOwn = (tenancyOfLog(seal) === tenancyOfEvent(event)) !== event.identity.startsWith('public');
  return isOwn && index >= massif.firstNode && index < massif.size && index < seal.state.size;
}

/** Checks every log file of a bundle, as a replica's are; gaps between massifs are allowed. */
export async function verifyBundledLogs(files: BundleFiles, trust: ReceiptTrust): Promise<BundledLogs> {
  const { massifs, findings } = pair(files);
  const runs: ProvenRun[] = [];
  for (const run of runsOf(massifs)) runs.push(await verifyRun(run, trust));
  return {
    findings: [...findings, ...runs.map((run) => run.findings)],
    massifOf: (event) => runs.flatMap(({ proven }) => proven).find((massif) => holds(massif, event)),
  };
}
