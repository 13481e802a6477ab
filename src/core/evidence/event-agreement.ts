import { toHex } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { type EventDocument, isAssetEvent } from '../statement/event-document.js';
import { isRecordStatement } from '../statement/event-statement.js';
import { readStatement } from '../statement/signed-statement.js';
import { differingMembers } from '../verify/differing-members.js';
import { verifyEventMatchesStatement } from '../verify/event-of-statement.js';
import { contradiction, type Findings } from '../verify/verdict.js';
import { eventLeaf } from '../verify/verify-event.js';

/** An event as one piece of the evidence states it. Nothing in it is proven. */
export interface StatedEvent {
  readonly piece: string;
  readonly event: EventDocument;
  /** What contradicts it. */
  readonly refusals: Partial<Findings>[];
}

/** A statement that has no event beside it in its own piece. */
interface LooseStatement {
  readonly piece: string;
  readonly entry: Uint8Array;
}

/** Returns the leaf of an event in hex; undefined if no log can hold such an event. */
export function leafOf(event: EventDocument): string | undefined {
  return unlessRefused(() => toHex(eventLeaf(event).leaf));
}

/**
 * Compares all pieces that state the same event, whether or not each is proven. Each event that differs from an earlier one
 * of the list gets a refusal. Two events are the same if they have the same identity; two asset-free events also if they
 * have the same leaf. An event is also compared with each statement that is only about its record.
 */
export function compareEvents(events: readonly StatedEvent[], statements: readonly LooseStatement[]): void {
  const byIdentity = new Map<string, StatedEvent>();
  const byLeaf = new Map<string, StatedEvent>();
  for (const stated of events) {
    const { identity } = stated.event;
    const same = byIdentity.get(identity);
    if (same) compareMembers(stated, same);
    else byIdentity.set(identity, stated);
    // The leaf of an asset's event covers its identity; that of its public form, in another log, may be equal.
    const leaf = isAssetEvent(stated.event) ? undefined : leafOf(stated.event);
    if (leaf === undefined) continue;
    const holder = byLeaf.get(leaf);
    if (holder) compareIdentity(stated, holder);
    else byLeaf.set(leaf, stated);
  }
  for (const statement of statements) {
    const subject = recordSubject(statement);
    const stated = subject === undefined ? undefined : byIdentity.get(subject);
    if (stated) compareRecord(stated, statement);
  }
}

function refuse({ piece, refusals }: StatedEvent, why: string, member?: string): void {
  refusals.push(contradiction(piece, new VerificationError('event_mismatch', why, member)));
}

function compareMembers(stated: StatedEvent, same: StatedEvent): void {
  const [member] = differingMembers(stated.event, same.event);
  if (member !== undefined) refuse(stated, `${member} differs from the same event in ${same.piece}`, member);
}

function compareIdentity(stated: StatedEvent, holder: StatedEvent): void {
  const { identity } = holder.event;
  if (identity !== stated.event.identity)
    refuse(stated, `${holder.piece} has the event with the same leaf, and calls it ${identity}`, 'identity');
}

function compareRecord(stated: StatedEvent, { piece, entry }: LooseStatement): void {
  try {
    verifyEventMatchesStatement(stated.event, entry);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    refuse(stated, `${piece} is the statement about its record, but ${error.message}`, error.member);
  }
}

/** The identity of the event that a statement is about; undefined if it is not only about a record, or cannot be read. */
function recordSubject({ entry }: LooseStatement): string | undefined {
  const read = unlessRefused(() => readStatement(entry));
  return read && isRecordStatement(read) ? read.subject : undefined;
}

function unlessRefused<Value>(check: () => Value): Value | undefined {
  try {
    return check();
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}
