import { VerificationError } from '../core/errors.js';
import { tenancyOfLog } from '../core/receipt/log-claims.js';
import { readSeal } from '../core/receipt/seal.js';
import { type EventDocument, isAssetEvent, readEventDocument } from '../core/statement/event-document.js';
import { parseUnambiguousJson } from '../core/statement/unambiguous-json.js';
import { refused, runStep, type VerificationStep } from '../core/verify/verification-report.js';
import { verifyConsistency } from '../core/verify/verify-consistency.js';
import { checkEventLog, eventCommit } from '../core/verify/verify-event.js';
import { checkEventInMassif } from '../core/verify/verify-event-in-log.js';
import { type ProvenMassif, proveLog, recomputeMassifs, type SealedMassif } from '../core/verify/verify-log.js';
import type { ReceiptTrust } from '../core/verify/verify-receipt.js';
import { type EvidenceFile, UsageError } from './evidence-file.js';
import type { ReplicaLog } from './replica-folder.js';

/** A step of a check, under a name that says what was checked. */
export type Step = VerificationStep<string>;

/** Told of each massif on long work. */
export type Progress = (done: string) => void;

async function* filesOf({ numbers, read }: ReplicaLog): AsyncGenerator<SealedMassif> {
  for (const number of numbers) yield await read(number);
}

/** Checks every file of a replicated log, and the events that it should hold. */
export async function checkReplica(
  log: ReplicaLog,
  events: readonly EventDocument[],
  trust: ReceiptTrust,
  progress: Progress,
): Promise<Step[]> {
  const steps: Step[] = [];
  const open = new Set(events);
  let last: ProvenMassif | undefined;
  try {
    for await (const proven of proveLog(filesOf(log), trust)) {
      checkPlace(log, proven, last);
      last = proven;
      progress(`massif ${proven.massif.index}, ${proven.massif.size} nodes`);
      for (const event of open) {
        if (!isIn(event, proven)) continue;
        open.delete(event);
        steps.push(await eventStep(event, proven));
      }
    }
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return [...steps, refused(`log ${log.path}`, error)];
  }
  const { massif, seal } = last!;
  const detail = `massifs ${log.numbers[0]} to ${massif.index} recomputed, sealed at ${seal.state.size} nodes by ${seal.issuer} as "${seal.subject}"`;
  const missing = [...open].map((event) =>
    refused(
      event.identity,
      new VerificationError('insufficient_data', 'none of the files holds its leaf under a seal'),
    ),
  );
  return [{ step: `log ${log.path}`, outcome: 'verified', detail }, ...steps, ...missing];
}

/** The folder says which log and which of its massifs a file is: another one in its place would pass for it. */
function checkPlace({ path, numbers }: ReplicaLog, { massif, seal }: ProvenMassif, before?: ProvenMassif): void {
  const expected = before ? before.massif.index + 1 : numbers[0];
  if (massif.index !== expected)
    throw new VerificationError('massif_corrupt', `the file of massif ${expected} holds massif ${massif.index}`);
  const [, tenancy] = /(?:^|[\\/])tenant[\\/]([0-9a-f-]{36})[\\/]\d+$/.exec(path) ?? [];
  if (tenancy !== undefined && tenancyOfLog(seal) !== tenancy)
    throw new VerificationError('log_mismatch', `the log in ${path} is "${seal.subject}"`);
}

function isIn(event: EventDocument, { massif, seal }: ProvenMassif): boolean {
  const index = BigInt(eventCommit(event).index);
  return index >= massif.firstNode && index < massif.size && index < seal.state.size;
}

function eventStep(event: EventDocument, { massif, seal }: ProvenMassif): Promise<Step> {
  return runStep(event.identity, () => {
    checkEventLog(seal, event);
    checkEventInMassif(event, massif, seal);
    const uncovered = isAssetEvent(event) || event.event_type !== undefined ? '' : '; not its creator and time';
    return `its leaf is node ${eventCommit(event).index} of the log${uncovered}`;
  });
}

/** The events of a file: one, or a list as the interface answers it. @throws {VerificationError} `malformed` */
export function eventsOf({ kind, bytes }: EvidenceFile): EventDocument[] {
  const value = parseUnambiguousJson(new TextDecoder().decode(bytes));
  return (kind === 'event' ? [value] : (value as { events: unknown[] }).events).map(readEventDocument);
}

/**
 * Single massif and seal files, put in order and beside each other, as if they lay in a folder.
 * @throws {UsageError} unless there is one seal for each massif
 */
export function replicaOfFiles(massifs: readonly EvidenceFile[], seals: readonly EvidenceFile[]): ReplicaLog {
  if (massifs.length !== seals.length) throw new UsageError('give each massif file together with its seal');
  const orderedMassifs = massifs.toSorted((left, right) => massifIndex(left) - massifIndex(right));
  const orderedSeals = seals.toSorted((left, right) => Number(sealedSize(left) - sealedSize(right)));
  const numbers = orderedMassifs.map(massifIndex);
  return {
    path: orderedMassifs.map(({ path }) => path).join(', '),
    numbers,
    read: async (number) => {
      const place = numbers.indexOf(number);
      return { massif: orderedMassifs[place]!.bytes, seal: orderedSeals[place]!.bytes };
    },
  };
}

function sealedSize({ bytes }: EvidenceFile): bigint {
  try {
    return readSeal(bytes).state.size;
  } catch {
    // Refused by the check that it is given to, with the reason.
    return 0n;
  }
}

function massifIndex({ bytes }: EvidenceFile): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(28);
}

/** Checks that the second seal extends the first. */
export async function checkSeals(
  [older, newer]: readonly [EvidenceFile, EvidenceFile],
  massifs: readonly EvidenceFile[],
  trust: ReceiptTrust,
): Promise<Step[]> {
  const files = massifs.toSorted((left, right) => massifIndex(left) - massifIndex(right)).map(({ bytes }) => bytes);
  return [
    await runStep('massifs', () => {
      const last = recomputeMassifs(files).at(-1);
      if (!last) throw new VerificationError('insufficient_data', 'two seals are compared over the massif files');
      return `${files.length} recomputed, up to ${last.size} nodes`;
    }),
    await runStep('consistency', async () => {
      await verifyConsistency({ seal: older.bytes }, { seal: newer.bytes, massifs: files }, trust);
      return `the log of ${newer.path} extends that of ${older.path}`;
    }),
  ];
}
