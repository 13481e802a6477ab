import { EvidenceText } from './evidence-text.js';
import { TEXTS } from './texts.js';

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const isUtc = ['UTC', 'Etc/UTC', 'GMT'].includes(local.resolvedOptions().timeZone);

/** The same moment in UTC, to the second. */
function inUtc(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} ${TEXTS.utc}`;
}

/** Returns a time in the reader's zone, with UTC beside it; a text that is no time as it is. */
export function timeText(time: string): string {
  const atMs = Date.parse(time);
  if (Number.isNaN(atMs)) return time;
  return isUtc ? inUtc(atMs) : `${local.format(atMs)} (${inUtc(atMs)})`;
}

/** A time of evidence in the reader's zone, with UTC beside it. A text that is no time is shown as it is. */
export function Moment({ time }: { readonly time: string }) {
  const atMs = Date.parse(time);
  if (Number.isNaN(atMs)) return <EvidenceText text={time} />;
  return <time dateTime={new Date(atMs).toISOString()}>{timeText(time)}</time>;
}

/** The date in UTC, for a sentence. */
export const dateInUtc = (atMs: number): string => inUtc(atMs).slice(0, 10);
