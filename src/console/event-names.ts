import { timeText } from './moment.js';
import type { RecordedEvent } from './recorded-event.js';
import { rowNames } from './row-names.js';

/** What to call each event where a person only hears its links: what happened, and when. No two have the same name. */
export function eventNames(events: readonly RecordedEvent[]): ReadonlyMap<RecordedEvent, string> {
  return rowNames(events, ({ title, accepted }) => (accepted === '' ? title : `${title}, ${timeText(accepted)}`));
}
