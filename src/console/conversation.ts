import { type EventPage, eventStream, type ReadJson } from './event-stream.js';
import { acceptedUntil, type RecordedEvent } from './recorded-event.js';
import { readQuery, type Source, sourcesOf, sourcesOfSubject } from './search-query.js';

/** What is shown on one page: a conversation, an asset, or a single event. */
export interface Wanted {
  readonly kind: 'conversation' | 'asset' | 'event';
  /** A subject such as `vcon://<uuid>`, an asset's UUID, or an event's identity. */
  readonly id: string;
  /** Of an asset: only what was accepted until this time, as the service writes times. */
  readonly at?: string;
}

/** More events of one conversation than this are not shown at once. */
const MOST = 2000;
const PAGE = 1000;
const NOTHING = readQuery(new URLSearchParams());

/** The page on which an event is shown with what belongs to it. */
export function placeOf({ history, subject, identity }: RecordedEvent): Wanted {
  const conversation = history ?? subject;
  if (conversation !== undefined) return { kind: 'conversation', id: conversation };
  const asset = /^assets\/([^/]+)\/events\//.exec(identity)?.[1];
  return asset === undefined ? { kind: 'event', id: identity } : { kind: 'asset', id: asset };
}

/** Reads all events of it, the oldest first. A conversation has those of its successors too. @throws {Unanswered} */
export async function readConversation({ kind, id, at }: Wanted, read: ReadJson): Promise<EventPage> {
  if (kind !== 'conversation') {
    const sources = [assetFreeEvent(id) ?? sourcesOf({ ...NOTHING, text: id }, PAGE)].flat();
    const page = oldestFirst(await eventStream(sources, read)(MOST));
    return at === undefined ? page : { ...page, events: acceptedUntil(page.events, at) };
  }
  const own = await eventStream(sourcesOfSubject(id, true, PAGE), read)(MOST);
  // An event that ends a conversation names its subject, but not always the history that it belongs to.
  const others = [...new Set(own.events.map(({ subject }) => subject))].filter(
    (subject): subject is string => subject !== undefined && subject !== id,
  );
  if (others.length === 0) return oldestFirst(own);
  const sources = [
    ...sourcesOfSubject(id, true, PAGE),
    ...others.flatMap((subject) => sourcesOfSubject(subject, false, PAGE)),
  ];
  return oldestFirst(await eventStream(sources, read)(MOST));
}

/** The event without an asset that this id names. A search for the id would also find events that have it as a trail. */
function assetFreeEvent(id: string): Source | undefined {
  const uuid = /^events\/([0-9a-f-]{36})$/.exec(id)?.[1];
  return uuid === undefined ? undefined : { path: `/archivist/v1/events/${uuid}`, isList: false };
}

function oldestFirst(page: EventPage): EventPage {
  return { ...page, events: page.events.toReversed() };
}
