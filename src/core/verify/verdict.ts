import { type VerificationCode, VerificationError } from '../errors.js';
import type { Claim } from './claim.js';
import { type Remark, timeRemarks } from './time-remarks.js';

/** Name and version of the JSON form of a verdict (docs/formats/verdict.md). */
export const VERDICT_SCHEMA = 'vcon-archivist/verdict/1';

/** Two pieces of evidence that contradict each other, or a piece that differs from what it must be. */
export interface Contradiction {
  readonly code: VerificationCode;
  /** The piece that is refused. */
  readonly piece: string;
  /** The member that differs, where one does. */
  readonly member?: string;
  /** One sentence for a person. */
  readonly detail: string;
}

/**
 * Why nothing covers a member or a piece.
 * - `by_design`: no log or signature covers these members, in any evidence.
 * - `explanation`: a text for people, a copy of keys, or a receipt that does not count beside one that does. It is not
 *   evidence.
 * - `unproven`: it claims to be evidence, and what would prove it is absent or was not checked.
 */
export type NotCoveredReason = 'by_design' | 'explanation' | 'unproven';

/** Something that was given and that no proof covers. Nothing in it is a fact. */
export interface NotCovered {
  readonly piece: string;
  /** Names of the members; empty means the whole piece. */
  readonly members: readonly string[];
  readonly why: NotCoveredReason;
  readonly detail: string;
}

/** Something that a check requires or could use, but that was not given. */
export type MissingKind =
  | 'document'
  | 'issuer'
  | 'issuer_keys'
  | 'log_keys'
  | 'witness_keys'
  | 'statement'
  | 'statement_log_receipt'
  | 'tenancy_log_receipt'
  | 'event'
  | 'witnesses'
  /** Which keys counted when an entry was made that is older than the first key manifest. */
  | 'key_history'
  /** What proves the order of an entry of a tenancy log, or of a forked log, and the key manifests. */
  | 'order'
  /** Key manifests after the one that was used. */
  | 'later_manifests';

/** Something that was not given. By itself it changes no outcome. */
export interface Missing {
  readonly what: MissingKind;
  readonly detail: string;
  /** All pieces that it is about, where `detail` names only some. */
  readonly pieces?: readonly string[];
}

/** The parts of a verdict. */
export interface Findings {
  readonly claims: readonly Claim[];
  readonly contradictions: readonly Contradiction[];
  readonly notCovered: readonly NotCovered[];
  readonly missing: readonly Missing[];
  /** Times that contradict each other. They change no outcome. */
  readonly remarks: readonly Remark[];
}

/**
 * - `verified`: every piece of evidence was checked, and every fact is proven.
 * - `incomplete`: nothing contradicts, but a piece that claims to be evidence is unproven, or nothing is proven at all.
 * - `refused`: something contradicts.
 */
export type Outcome = 'verified' | 'incomplete' | 'refused';

/** What evidence proves. The outcome follows from the parts; `createVerdict` derives it. */
export interface Verdict extends Findings {
  readonly outcome: Outcome;
}

function outcomeOf({ claims, contradictions, notCovered }: Findings): Outcome {
  if (contradictions.length > 0) return 'refused';
  const unproven = notCovered.some(({ why }) => why === 'unproven');
  return unproven || claims.length === 0 ? 'incomplete' : 'verified';
}

/** Parts do not change, and go from verdict to verdict: each is written out once. */
const texts = new WeakMap<object, string>();

function textOf(part: object): string {
  const text = texts.get(part) ?? JSON.stringify(part);
  texts.set(part, text);
  return text;
}

/** @param shortOf a text that equal parts share: only parts that share it are written out and compared */
function distinct<Part extends object>(parts: Part[], shortOf: (part: Part) => string): Part[] {
  if (parts.length < 2 || new Set(parts.map(shortOf)).size === parts.length) return parts;
  return [...new Map(parts.map((part) => [textOf(part), part])).values()];
}

/**
 * Returns the verdict over all of these findings, which may be verdicts: their parts in order, each only once, with the
 * outcome and the remarks that follow from them. One refused piece refuses the whole.
 * A list as long as the evidence must be given as one argument, because a call has room for some 100,000 arguments.
 */
export function createVerdict(...findings: readonly (Partial<Findings> | readonly Partial<Findings>[])[]): Verdict {
  const claims: Claim[] = [];
  const contradictions: Contradiction[] = [];
  const uncovered: NotCovered[] = [];
  const absent: Missing[] = [];
  const remarks: Remark[] = [];
  for (const each of findings.flat()) {
    for (const part of each.claims ?? []) claims.push(part);
    for (const part of each.contradictions ?? []) contradictions.push(part);
    for (const part of each.notCovered ?? []) uncovered.push(part);
    for (const part of each.missing ?? []) absent.push(part);
    for (const part of each.remarks ?? []) remarks.push(part);
  }
  const told = distinct(claims, ({ kind, piece }) => `${kind} ${piece}`);
  const parts: Findings = {
    claims: told,
    contradictions: distinct(contradictions, ({ code, piece, detail }) => `${code} ${piece} ${detail}`),
    notCovered: distinct(uncovered, ({ piece, why, detail }) => `${why} ${piece} ${detail}`),
    missing: distinct(absent, ({ what, detail }) => `${what} ${detail}`),
    remarks: timeRemarks(told, remarks),
  };
  return { outcome: outcomeOf(parts), ...parts };
}

/** Returns the same verdict about pieces inside a container: `event` becomes `<container>/event`. */
export function verdictWithin(container: string, findings: Findings): Verdict {
  const { claims, contradictions, notCovered, missing, remarks } = findings;
  const inside = <Part extends { readonly piece: string }>(part: Part): Part => ({
    ...part,
    piece: `${container}/${part.piece}`,
  });
  return createVerdict({
    claims: claims.map((claim) => ({
      ...inside(claim),
      ...(claim.operation_in !== undefined && { operation_in: `${container}/${claim.operation_in}` }),
      by: claim.by.map((proof) => (proof.type === 'digest' ? { ...proof, of: `${container}/${proof.of}` } : proof)),
    })),
    contradictions: contradictions.map(inside),
    notCovered: notCovered.map(inside),
    missing,
    remarks: remarks.map(inside),
  });
}

/** Returns the finding that a piece is refused. */
export function contradiction(piece: string, { code, member, message }: VerificationError): Partial<Findings> {
  return { contradictions: [{ code, piece, ...(member === undefined ? {} : { member }), detail: message }] };
}

/** Codes that say that a check could not be done. Nothing false was found, and nothing was proven. */
const UNDECIDED: readonly VerificationCode[] = ['insufficient_data', 'receipt_missing', 'unsupported'];

/**
 * Returns the finding that follows from a failed check: a contradiction, or unproven evidence if nothing false was
 * found.
 */
export function failure(piece: string, error: VerificationError): Partial<Findings> {
  return UNDECIDED.includes(error.code) ? notCovered(piece, 'unproven', error.message) : contradiction(piece, error);
}

/** Returns the finding that nothing covers a piece, or some members of it. */
export function notCovered(
  piece: string,
  why: NotCoveredReason,
  detail: string,
  members: readonly string[] = [],
): Partial<Findings> {
  return { notCovered: [{ piece, members, why, detail }] };
}

/** Returns the finding that something was not given. */
export function missing(what: MissingKind, detail: string, pieces?: readonly string[]): Partial<Findings> {
  return { missing: [{ what, detail, ...(pieces && { pieces }) }] };
}

/** The result of one check: what it proved, or the findings that follow from its failure. */
type Checked<Value> =
  | { readonly proven: Value; readonly failed?: never }
  | { readonly proven?: never; readonly failed: Partial<Findings> };

/** Runs one check of a piece. An error that is no `VerificationError` is a bug and is rethrown. */
export async function checked<Value>(piece: string, check: () => Promise<Value> | Value): Promise<Checked<Value>> {
  try {
    return { proven: await check() };
  } catch (error) {
    if (error instanceof VerificationError) return { failed: failure(piece, error) };
    throw error;
  }
}

/** Runs one check and returns its findings, or the findings that follow from its failure. */
export async function findingsOf(
  piece: string,
  check: () => Promise<Partial<Findings>> | Partial<Findings>,
): Promise<Partial<Findings>> {
  const { proven, failed } = await checked(piece, check);
  return proven ?? failed;
}

/**
 * Returns the same verdict if it is verified, for callers that want an error otherwise.
 * @throws {VerificationError} the first contradiction, or `insufficient_data` if something is unproven
 */
export function requireVerified(verdict: Verdict): Verdict {
  const [refused] = verdict.contradictions;
  if (refused) throw new VerificationError(refused.code, refused.detail, refused.member);
  if (verdict.outcome === 'verified') return verdict;
  const unproven = verdict.notCovered.find(({ why }) => why === 'unproven');
  throw new VerificationError('insufficient_data', unproven?.detail ?? 'the evidence proves nothing');
}

/** Returns the JSON form of a verdict (docs/formats/verdict.md). @param files what each given file was read as */
export function verdictDocument(verdict: Verdict, files: readonly TakenFor[] = []): object {
  const { outcome, claims, contradictions, notCovered: not_covered, missing, remarks } = verdict;
  return { schema: VERDICT_SCHEMA, outcome, files, claims, contradictions, not_covered, missing, remarks };
}

/** A file as it was given, and the kind that was detected from its content. */
export interface TakenFor {
  readonly file: string;
  readonly kind: string;
}
