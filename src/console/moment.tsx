import { EvidenceText } from './evidence-text.js';
import { TEXTS } from './texts.js';

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const isUtc = ['UTC', 'Etc/UTC', 'GMT'].includes(local.resolvedOptions().timeZone);

/** The same moment in UTC, to the second. */
function inUtc(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} ${TEXTS.utc}`;
}

/** A time of evidence in the reader's zone, with UTC beside it. A text that is no time is shown as it is. */
export function Moment({ time }: { readonly time: string }) {
  const atMs = Date.parse(time);
  if (Number.isNaN(atMs)) return <EvidenceText text={time} />;
  return (
    <time dateTime={new Date(atMs).toISOString()}>
      {isUtc ? inUtc(atMs) : `${local.format(atMs)} (${inUtc(atMs)})`}
    </time>
  );
}

/** The date in UTC, for a sentence. */
export const dateInUtc = (atMs: number): string => inUtc(atMs).slice(0, 10);
