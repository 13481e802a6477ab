import type { Memory } from '../memory/memory.js';
import type { Consent } from '../operation/consent.js';
import type { AnswerWindow } from './answer-window.js';
import type { Ended } from './ended.js';
import type { KnownVcon } from './known-vcon.js';
import { type Capturing, isLate, seenFields } from './late-capture.js';
import {
  type ComparedConsents,
  newestConsents,
  olderConsents,
  type SeenConsents,
  seenConsents,
} from './seen-consents.js';

/** The consents of a vCon before this operation: those last seen, or those of the vCon that it continues. */
async function consentsBefore(
  memory: Memory,
  uuid: string,
  { vcon }: Ended,
  seen: SeenConsents,
): Promise<readonly Consent[]> {
  const predecessor = vcon.redacted ?? vcon.amended;
  if (seen.consents || !vcon.uuid || !predecessor || predecessor === uuid) return seen.consents ?? [];
  return seenConsents(await memory.read('vcons', predecessor)).consents ?? [];
}

/**
 * Compares the consents of a captured vCon with those last seen.
 * @throws what the memory throws
 */
export async function compareConsents(
  parts: { readonly memory: Memory; capturing(): Capturing },
  ended: Ended,
  { uuid, fields, late }: KnownVcon,
  window: AnswerWindow,
): Promise<ComparedConsents> {
  const seen = seenConsents(fields);
  // A later state may have shown no consents: a signed one.
  const older = seen.consents && isLate(ended, seen.newest?.place ?? fields, window, parts.capturing());
  if (older) return olderConsents(ended, seen);
  const before = await consentsBefore(parts.memory, uuid, ended, seen);
  const last = late ? fields['sequence']! : ended.observed.sequence;
  return newestConsents(ended, seen, { before, place: seenFields(ended, parts.capturing()), last });
}
