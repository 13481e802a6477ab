import { useEffect } from 'preact/hooks';
import type { EventPage } from './event-stream.js';
import { type RecordedEvent, recordedEvent } from './recorded-event.js';
import { onService } from './service-path.js';

const STREAM = '/archivist/v1/events/stream';
const NAMES = ['asset_event', 'asset_free_event'] as const;
const UNFINISHED = ['STORED', 'COMMITTED'];

/** True for an event whose receipt does not exist yet. */
export const isUnfinished = ({ status }: RecordedEvent): boolean => UNFINISHED.includes(status);

/**
 * While some of these events have no receipt, the service tells the page of each one that gets it; the page does not
 * poll.
 * @param onBegin called when the service begins to tell: what was confirmed before has to be read
 * @param onConfirmed called with each event, of this page or another, that is confirmed from then on
 */
export function useLive(
  events: readonly RecordedEvent[],
  onBegin: () => void,
  onConfirmed: (event: RecordedEvent) => void,
): void {
  const waits = events.some(isUnfinished);
  useEffect(() => {
    if (!waits) return undefined;
    const source = new EventSource(onService(STREAM));
    let hasBegun = false;
    source.addEventListener('position', () => {
      // After an interruption the browser resumes where it was.
      if (!hasBegun) onBegin();
      hasBegun = true;
    });
    for (const name of NAMES)
      source.addEventListener(name, ({ data }: MessageEvent<string>) => {
        onConfirmed(recordedEvent(JSON.parse(data)));
      });
    return () => source.close();
  }, [waits]);
}

/** The events of a page with what is known of each: an answer of the service may be older than what it told since. */
export function withFinished(page: EventPage, finished: readonly RecordedEvent[]): EventPage {
  const byIdentity = new Map(finished.filter((event) => !isUnfinished(event)).map((event) => [event.identity, event]));
  const events = page.events.map((event) => (isUnfinished(event) ? (byIdentity.get(event.identity) ?? event) : event));
  return { ...page, events };
}
