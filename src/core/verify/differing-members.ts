import type { EventDocument } from '../statement/event-document.js';
import { comparableText } from './comparable-text.js';

/** Returns the names of the members in which two frozen events differ, including members that only one of them has. */
export function differingMembers(event: EventDocument, other: EventDocument): string[] {
  const [left, right] = [event, other] as unknown as [Record<string, unknown>, Record<string, unknown>];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].filter(
    (name) => comparableText(left[name]) !== comparableText(right[name]),
  );
}
