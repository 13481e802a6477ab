import { VerificationError } from '../core/errors.js';
import { type EvidenceFile, evidenceFile } from '../core/evidence/evidence-file.js';
import { isAssetEvent, readEventDocument } from '../core/statement/event-document.js';
import { jcs } from '../core/vcon/jcs.js';
import { readJson as readDocument } from '../core/vcon/json-document.js';
import { checkAssetAttributes } from '../core/verify/asset-attributes.js';
import { contradiction, createVerdict, type Findings, notCovered } from '../core/verify/verdict.js';
import { type CheckResult, checkEvidence, orProblem, type ReaderTrust } from './check-evidence.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import { evidenceName, readEvidence } from './event-evidence.js';
import type { HashedFile } from './hashed-file.js';
import { type Json, memberOf, textOf } from './json-members.js';
import type { RecordedEvent } from './recorded-event.js';
import { Unanswered } from './session-reader.js';
import { isUnfinished } from './use-live.js';

/** Requests under way at once. */
const AT_ONCE = 4;
const MOST_TRIES = 10;
/** Members that an event keeps for ever, as far as it was complete when it was shown. */
const FIXED = [
  'identity',
  'asset_identity',
  'event_attributes',
  'asset_attributes',
  'attributes',
  'trails',
  'event_type',
  'operation',
  'behaviour',
  'timestamp_declared',
  'timestamp_accepted',
  'timestamp_committed',
  'principal_declared',
  'principal_accepted',
  'tenant_identity',
  'origin_tenant',
  'created_by',
  'created_at',
];

/** The state of an asset as the page shows it. */
export interface ShownState {
  readonly attributes: Json;
  /** Whether the page has every event of the asset until then. */
  readonly isWhole: boolean;
}

/** The evidence of one event, or why there is none. */
type Fetched = { readonly file: EvidenceFile } | { readonly open: Partial<Findings> };

const wait = (seconds: number) => new Promise((resume) => setTimeout(resume, seconds * 1000));

/**
 * Fetches the evidence of events by the public interface and checks it for a reader, with the reader's own file if there
 * is one. An event without evidence, or with evidence of other events, leaves the result incomplete. An event that was shown otherwise than its evidence
 * says refuses it. Attributes of an asset that are not what the proven events made of them leave it incomplete.
 * @param state of the asset whose page it is; undefined for any other page
 */
export function checkConversation(
  events: readonly RecordedEvent[],
  document: HashedFile | undefined,
  reader: ReaderTrust,
  progress: (done: string) => void,
  state?: ShownState,
): Promise<CheckResult> {
  return orProblem(() => answer(events, document, reader, progress, state).catch(unanswered));
}

function unanswered(error: unknown): CheckResult {
  if (!(error instanceof Unanswered)) throw error;
  return { problem: 'no_answer', detail: error.message, files: [], isSignedOut: error.reason === 'signed_out' };
}

async function answer(
  events: readonly RecordedEvent[],
  document: HashedFile | undefined,
  reader: ReaderTrust,
  progress: (done: string) => void,
  state: ShownState | undefined,
): Promise<CheckResult> {
  const fetched = await fetchAll(events, progress);
  const bundles = fetched.flatMap((each) => ('file' in each ? [each.file] : []));
  const open = fetched.flatMap((each) => ('open' in each ? [each.open] : []));
  if (bundles.length === 0) return { verdict: createVerdict(...open), files: [], origin: 'pinned_root', reader };
  const files = document ? [...bundles, await evidenceFile(document.name, document.bytes)] : bundles;
  const result = await checkEvidence(files, reader, progress);
  if (!('verdict' in result)) return result;
  const shown = await Promise.all(
    fetched.flatMap((each, at) => ('file' in each ? [shownOtherwise(events[at]!, each.file)] : [])),
  );
  const made = state ? await madeOtherwise(state, open.length === 0, bundles) : {};
  return { ...result, verdict: createVerdict(result.verdict, ...open, ...shown, made) };
}

async function fetchAll(events: readonly RecordedEvent[], progress: (done: string) => void): Promise<Fetched[]> {
  const fetched: Fetched[] = [];
  let next = 0;
  let done = 0;
  const work = async () => {
    for (let at = next++; at < events.length; at = next++) {
      fetched[at] = await fetchOne(events[at]!);
      done += 1;
      progress(CONSOLE_TEXTS.fetched(done, events.length));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return fetched;
}

const pieceOf = ({ identity, title }: RecordedEvent): string => `${title} (${identity})`;

async function fetchOne(event: RecordedEvent): Promise<Fetched> {
  const unproven = (why: string): Fetched => ({ open: notCovered(pieceOf(event), 'unproven', why) });
  // The page is told when it is confirmed, and checks again.
  if (isUnfinished(event)) return unproven(CONSOLE_TEXTS.lateEvidence);
  for (let tries = 1; ; tries += 1)
    try {
      return { file: await evidenceFile(evidenceName(event), await readEvidence(event, 'page')) };
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      if (error.reason === 'hidden') return unproven(CONSOLE_TEXTS.hiddenEvidence(error.message));
      if (error.reason === 'absent') return unproven(CONSOLE_TEXTS.noEvidence(error.message));
      const isLate = error.reason === 'not_ready';
      if (isLate && tries === MOST_TRIES) return unproven(CONSOLE_TEXTS.lateEvidence);
      if (tries === MOST_TRIES || !(isLate || error.reason === 'busy')) throw error;
      await wait(error.retryAfter);
    }
}

/** The reader has seen the event as the service listed it, so that has to be what the evidence proves. */
async function shownOtherwise(event: RecordedEvent, bundle: EvidenceFile): Promise<Partial<Findings>> {
  const bytes = await bundle.folder?.file('event.json');
  // Good evidence of other events proves nothing about this one.
  if (!bytes) return notCovered(pieceOf(event), 'unproven', CONSOLE_TEXTS.withoutEvent);
  const proven = parsed(bytes);
  // A bundle that is damaged is refused by its own check.
  if (!proven) return {};
  const member = FIXED.find((name) => {
    const value = event.json[name];
    return value !== undefined && value !== '' && canonical(value) !== canonical(memberOf(proven, name));
  });
  if (member === undefined) return {};
  return contradiction(bundle.path, new VerificationError('event_mismatch', CONSOLE_TEXTS.differs, member));
}

/**
 * The attributes that the reader has seen have to be what the events made of them. An event that was accepted after the
 * events were read and before the attributes is no forgery, so that a difference refuses nothing.
 */
async function madeOtherwise(
  { attributes, isWhole }: ShownState,
  hasAll: boolean,
  bundles: readonly EvidenceFile[],
): Promise<Partial<Findings>> {
  const unproven = (why: string) => notCovered(CONSOLE_TEXTS.attributesPiece, 'unproven', why);
  if (!isWhole || !hasAll) return unproven(CONSOLE_TEXTS.attributesOfPart);
  const files = await Promise.all(bundles.map(async ({ folder }) => folder?.file('event.json')));
  try {
    const events = files.map((bytes) => readEventDocument(parsed(bytes ?? new Uint8Array())));
    checkAssetAttributes(attributes, events.filter(isAssetEvent));
    return {};
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return unproven(CONSOLE_TEXTS.attributesDiffer(error.message));
  }
}

function parsed(bytes: Uint8Array): Json | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Json;
  } catch {
    return undefined;
  }
}

/** A text that is equal for equal values; a number and its decimal text are the same. */
function canonical(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value !== 'object' || value === null) return textOf(String(value));
  return jcs(readDocument(new TextEncoder().encode(JSON.stringify(value)))).text;
}
