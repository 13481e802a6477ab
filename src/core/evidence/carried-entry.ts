import { toHex } from '../bytes.js';
import { readTransparentStatement } from '../statement/transparent-statement.js';
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
    const { entry, event, eventJson: json, mmrReceipt } = proven;
    const stated = event && json && { piece: `${path}/event`, event, json, proofs: [], otherLeaves: [], refusals: [] };
    const loose = mmrReceipt ? undefined : stated;
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
  return [...unjoined(carried, found).map(carriedClaim), ...carried.map(carriedEvent)];
}

/** Those whose single receipts no claim about their statement shows. */
function unjoined(carried: readonly CarriedEntry[], found: readonly Partial<Findings>[]): CarriedEntry[] {
  const shown = new Map<string, Set<Proof>>();
  for (const { piece, by } of found.flatMap(({ claims = [] }) => claims)) {
    const proofs = shown.get(piece) ?? new Set();
    for (const proof of by) proofs.add(proof);
    shown.set(piece, proofs);
  }
  return carried.filter(({ piece, proofs }) => !proofs.every((proof) => shown.get(piece)?.has(proof)));
}

function carriedClaim({ piece, proofs }: GivenEntry): Partial<Findings> {
  return proofs.length === 0 ? {} : { claims: [{ kind: 'entry', piece, facts: {}, by: proofs }] };
}

/** What single receipts prove of an event that has a receipt of its own beside it. */
function carriedEvent({ file, stated, loose }: CarriedEntry): Partial<Findings> {
  if (!stated || loose || stated.proofs.length === 0) return {};
  return verdictWithin(file, createVerdict(provenEvent(stated.event, stated.proofs)));
}
