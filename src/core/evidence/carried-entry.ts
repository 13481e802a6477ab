import { toHex } from '../bytes.js';
import { DataStructure } from '../cose/labels.js';
import { readTransparentStatement, receiptsOfStructure } from '../statement/transparent-statement.js';
import type { Claim, Proof } from '../verify/claim.js';
import { provenEvent } from '../verify/event-facts.js';
import { checked, createVerdict, type Findings, verdictWithin } from '../verify/verdict.js';
import type { EvidenceFile } from './evidence-file.js';
import type { GivenEvent } from './given-event.js';
import type { GivenEntry } from './receipt-evidence.js';

/** The statement inside a transparent statement, to which a separate receipt may belong, and the event beside it. */
export interface CarriedEntry extends GivenEntry {
  readonly file: string;
  readonly stated?: GivenEvent | undefined;
  /** The same event, if no receipt for it is in the statement. */
  readonly loose?: GivenEvent | undefined;
}

/** Reads the statements and events in these files; one that cannot be read is told of by its own check. */
export async function carriedEntries(files: readonly EvidenceFile[]): Promise<CarriedEntry[]> {
  const entries: CarriedEntry[] = [];
  for (const { path, bytes } of files) {
    const { proven } = await checked(path, () => readTransparentStatement(bytes));
    if (!proven) continue;
    const { entry, event, eventJson: json } = proven;
    const stated = event && json && { piece: `${path}/event`, event, json, proofs: [], otherLeaves: [], refusals: [] };
    const loose = receiptsOfStructure(proven, DataStructure.mmrSha256).length > 0 ? undefined : stated;
    entries.push({ file: path, piece: `${path}/statement`, entry, proofs: [], stated, loose });
  }
  return entries;
}

/** Of transparent statements, those whose statement is proven. */
export function provenEntries(carried: readonly GivenEntry[], claims: readonly Claim[]): string[] {
  const proven = new Set(claims.filter(({ kind }) => kind === 'statement').map(({ piece }) => piece));
  return carried.filter(({ piece }) => proven.has(piece)).map(({ entry }) => toHex(entry));
}

/** What single receipts prove of statements and events that are carried, where the claims so far do not show it. */
export function carriedFindings(
  carried: readonly CarriedEntry[],
  found: readonly Partial<Findings>[],
): Partial<Findings>[] {
  const shown = shownProofs(found);
  const isShown = ({ piece, proofs }: Pick<GivenEntry, 'piece' | 'proofs'>) =>
    proofs.every((proof) => shown.get(piece)?.has(proof));
  return carried.flatMap((each) => [
    isShown(each) ? {} : { claims: [{ kind: 'entry', piece: each.piece, facts: {}, by: each.proofs } as const] },
    !each.stated || each.loose || isShown(each.stated) ? {} : carriedEvent(each.file, each.stated),
  ]);
}

/** The proofs that claims about a piece show. */
function shownProofs(found: readonly Partial<Findings>[]): ReadonlyMap<string, ReadonlySet<Proof>> {
  const shown = new Map<string, Set<Proof>>();
  for (const { piece, by } of found.flatMap(({ claims = [] }) => claims)) {
    const proofs = shown.get(piece) ?? new Set();
    for (const proof of by) proofs.add(proof);
    shown.set(piece, proofs);
  }
  return shown;
}

function carriedEvent(file: string, { event, proofs }: GivenEvent): Partial<Findings> {
  return verdictWithin(file, createVerdict(provenEvent(event, proofs)));
}
