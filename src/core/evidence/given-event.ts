import { toHex } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { type EventDocument, readEventDocument } from '../statement/event-document.js';
import { parseUnambiguousBytes } from '../vcon/unambiguous-json.js';
import type { Claim, InclusionProof } from '../verify/claim.js';
import { provenEvent, uncoveredMembers } from '../verify/event-facts.js';
import { eventIssuerFindings } from '../verify/event-issuer.js';
import { type OtherLeaf, otherLeafFindings } from '../verify/other-leaf.js';
import { openPlace } from '../verify/proofs.js';
import { proofsOfLeaf } from '../verify/proofs-of-leaf.js';
import type { IssuerPin } from '../verify/trust.js';
import {
  checked,
  contradiction,
  createVerdict,
  type Findings,
  missing,
  notCovered,
  type Verdict,
  verdictWithin,
} from '../verify/verdict.js';
import { eventCommit, eventLeaf } from '../verify/verify-event.js';
import type { StatedEvent } from './event-agreement.js';
import type { EvidenceFile } from './evidence-file.js';

/** An event that was given as JSON, and what the other files proved of it so far. The piece is the file, or a place in a list. */
export interface GivenEvent extends StatedEvent {
  readonly json: object;
  readonly proofs: InclusionProof[];
  /** Copies of its log that have another leaf in its place. */
  readonly otherLeaves: OtherLeaf[];
}

/** The events of these files, and what is wrong with those that cannot be read. */
export async function readGivenEvents(
  files: readonly EvidenceFile[],
): Promise<{ readonly events: readonly GivenEvent[]; readonly unread: readonly Partial<Findings>[] }> {
  const events: GivenEvent[] = [];
  const unread: Partial<Findings>[] = [];
  for (const { path, kind, bytes } of files) {
    const { proven, failed } = await checked(path, () => eventsIn(path, kind, bytes));
    if (failed) unread.push(failed);
    for (const event of proven ?? []) events.push(event);
  }
  return { events, unread };
}

function eventsIn(path: string, kind: string, bytes: Uint8Array): GivenEvent[] {
  const value = parseUnambiguousBytes(bytes);
  const given = (piece: string, json: unknown): GivenEvent => ({
    piece,
    event: readEventDocument(json),
    json: json as object,
    proofs: [],
    otherLeaves: [],
    refusals: [],
  });
  if (kind === 'event') return [given(path, value)];
  return (value as { events: unknown[] }).events.map((json, at) => given(`${path}/events/${at}`, json));
}

/**
 * An event file may repeat the event inside a statement; the same leaf then proves both. Whether the two agree in the rest
 * was compared before (event-agreement.ts).
 */
function alsoProvenBy({ event, proofs, refusals, piece }: GivenEvent, claims: readonly Claim[]): void {
  for (const { claim, proof } of proofsOfLeaf(claims, toHex(eventLeaf(event).leaf))) {
    const { kind, facts, piece: other } = claim;
    if (kind !== 'event' || proofs.length > 0) continue;
    if (isOtherForm(facts.identity, event)) {
      const why = `it differs from the event in ${other}, which a log holds`;
      refusals.push(contradiction(piece, new VerificationError('event_mismatch', why)));
    } else proofs.push(proof);
  }
}

/** No leaf covers the word `public`: the claim's identity is that of the log's own form. */
function isOtherForm(identity: string | undefined, event: EventDocument): boolean {
  return identity !== undefined && identity !== event.identity;
}

/** Whether one of these claims is about the very same leaf: then it was compared with its statement, or with the pin. */
function isAmong(claims: readonly Claim[], event: EventDocument): boolean {
  return proofsOfLeaf(claims, toHex(eventLeaf(event).leaf)).some(({ claim }) => claim.kind === 'event');
}

/** What copies of its log that have another leaf mean for an event, after all other files were checked. */
export function otherLeavesOf(
  { event, piece, proofs, otherLeaves }: GivenEvent,
  claims: readonly Claim[],
): Partial<Findings>[] {
  if (otherLeaves.length === 0) return [];
  const elsewhere = proofsOfLeaf(claims, toHex(eventLeaf(event).leaf)).filter(({ claim }) => claim.kind === 'event');
  return otherLeafFindings(piece, otherLeaves, [...proofs, ...elsewhere.map(({ proof }) => proof)]);
}

/**
 * Returns the verdict about a given event after all other files were checked.
 * @param claims about the other files
 * @param isSpoken whether the signature of this entry, a statement, was checked
 * @param issuer the pin, where there is one
 */
export async function eventVerdict(
  given: GivenEvent,
  claims: readonly Claim[],
  isSpoken: (entry: Uint8Array) => boolean,
  issuer: IssuerPin | undefined,
): Promise<Verdict> {
  const { piece, event, json, proofs, refusals } = given;
  const { failed } = await checked(piece, () => alsoProvenBy(given, claims));
  const copies = createVerdict(failed ? [] : otherLeavesOf(given, claims));
  if (failed || refusals.length > 0 || copies.outcome === 'refused')
    return createVerdict(failed ?? {}, refusals, copies);
  const [first] = proofs;
  if (first) {
    const placed = proofs.find((proof) => proof.leaf_index !== undefined) ?? first;
    const open = [openPlace('event', placed), uncoveredMembers(event, json)];
    const of = isAmong(claims, event) ? {} : eventIssuerFindings('event', event, issuer, first.log.issuer, isSpoken);
    return createVerdict(verdictWithin(piece, createVerdict(provenEvent(event, proofs), ...open, of)), copies);
  }
  const why = `no given file proves that a log holds it (index ${eventCommit(event).index}), so its members are not facts`;
  return createVerdict(
    copies,
    missing('tenancy_log_receipt', `${piece} has no receipt, and no log file that holds it`),
    notCovered(piece, 'unproven', why),
  );
}
