import { type EventPage, eventStream, type ReadJson } from './event-stream.js';
import type { RecordedEvent } from './recorded-event.js';
import { readQuery, type Source, sourcesOf } from './search-query.js';

/** What is shown on one page: a conversation, an asset, or a single event. */
export interface Wanted {
  readonly kind: 'conversation' | 'asset' | 'event';
  /** A subject such as `vcon://<uuid>`, an asset's UUID, or an event's identity. */
  readonly id: string;
}

/** More events of one conversation than this are not shown at once. */
const MOST = 2000;
const PAGE = 1000;
const NOTHING = readQuery(new URLSearchParams());

/** The page on which an event is shown with what belongs to it. */
export function placeOf({ history, subject, identity }: RecordedEvent): Wanted {
  const conversation = history ?? subject;
  if (conversation !== undefined && identity.startsWith('assets/')) return { kind: 'conversation', id: conversation };
  const asset = /^assets\/([^/]+)\/events\//.exec(identity)?.[1];
  return asset === undefined ? { kind: 'event', id: identity } : { kind: 'asset', id: asset };
}

/** Reads all events of it, the oldest first. A conversation has those of its successors too. @throws {Unanswered} */
export async function readConversation({ kind, id }: Wanted, read: ReadJson): Promise<EventPage> {
  if (kind !== 'conversation')
    return oldestFirst(await eventStream(sourcesOf({ ...NOTHING, text: id }, PAGE), read)(MOST));
  const own = await eventStream(ofSubject(id, true), read)(MOST);
  // An event that ends a conversation names its subject, but not always the history that it belongs to.
  const others = [...new Set(own.events.map(({ subject }) => subject))].filter(
    (subject): subject is string => subject !== undefined && subject !== id,
  );
  if (others.length === 0) return oldestFirst(own);
  const sources = [...ofSubject(id, true), ...others.flatMap((subject) => ofSubject(subject, false))];
  return oldestFirst(await eventStream(sources, read)(MOST));
}

function ofSubject(subject: string, withHistory: boolean): Source[] {
  return ['subject', ...(withHistory ? ['vcon_history'] : [])].map((name) => ({
    path: `/archivist/v2/assets/-/events?${new URLSearchParams([
      [`event_attributes.${name}`, subject],
      ['page_size', String(PAGE)],
    ])}`,
    isList: true,
  }));
}

function oldestFirst(page: EventPage): EventPage {
  return { ...page, events: page.events.toReversed() };
}
