import { ageOf, type EventPage, eventStream, type ReadJson } from './event-stream.js';
import { assetOf, type RecordedEvent } from './recorded-event.js';
import { type Source, sourcesOfId, sourcesOfSubject, TIMELINE_FIRST } from './search-query.js';

/** What is shown on one page: a conversation, an asset, or a single event. */
export interface Wanted {
  readonly kind: 'conversation' | 'asset' | 'event';
  /** A subject such as `vcon://<uuid>`, an asset's UUID, or an event's identity. */
  readonly id: string;
  /** Of an asset: only what was accepted until this time, as the service writes times. */
  readonly at?: string;
}

/** More events of one conversation than this are not shown. */
const MOST = 2000;

/** The page on which an event is shown with what belongs to it. */
export function placeOf(event: RecordedEvent): Wanted {
  const conversation = event.history ?? event.subject;
  if (conversation !== undefined) return { kind: 'conversation', id: conversation };
  const asset = assetOf(event);
  return asset === undefined ? { kind: 'event', id: event.identity } : { kind: 'asset', id: asset };
}

/**
 * Reads all events of it, the oldest first. A conversation has those of its successors too.
 * @param onPart called with the newest events as soon as they are read, if there may be others
 * @throws {Unanswered}
 */
export async function readConversation(
  { kind, id, at }: Wanted,
  read: ReadJson,
  onPart: (part: EventPage) => void,
): Promise<EventPage> {
  const shown = ({ events, ...page }: EventPage): EventPage => ({ ...page, events: events.toReversed() });
  const tell = (part: EventPage) => onPart(shown(part));
  if (kind !== 'conversation') return shown(await readAll(assetFreeEvent(id) ?? sourcesOfId(id, at), read, tell));
  const own = await readAll(sourcesOfSubject(id, true), read, tell);
  // An event that ends a conversation names its subject, but not always the history that it belongs to.
  const others = [...new Set(own.events.map(({ subject }) => subject))].filter(
    (subject): subject is string => subject !== undefined && subject !== id,
  );
  if (others.length === 0) return shown(own);
  tell(own);
  const sources = others.flatMap((subject) => sourcesOfSubject(subject, false));
  return shown(joined(own, await readAll(sources, read, () => undefined)));
}

async function readAll(
  sources: readonly Source[],
  read: ReadJson,
  onPart: (part: EventPage) => void,
): Promise<EventPage> {
  const next = eventStream(sources, read);
  const first = await next(TIMELINE_FIRST);
  if (first.isLast) return first;
  onPart(first);
  const rest = await next(MOST - first.events.length);
  return { ...rest, events: [...first.events, ...rest.events] };
}

/** The newest events of both, each once, the newest first. */
function joined(one: EventPage, other: EventPage): EventPage {
  const byIdentity = new Map([...one.events, ...other.events].map((event) => [event.identity, event]));
  const events = [...byIdentity.values()].sort((left, right) => (ageOf(left) < ageOf(right) ? 1 : -1));
  return {
    events: events.slice(0, MOST),
    isLast: one.isLast && other.isLast && events.length <= MOST,
    hidden: [...new Set([...one.hidden, ...other.hidden])],
  };
}

/** The event without an asset that this id names. A search for the id would also find events that have it as a trail. */
function assetFreeEvent(id: string): Source[] | undefined {
  const uuid = /^events\/([0-9a-f-]{36})$/.exec(id)?.[1];
  return uuid === undefined ? undefined : [{ path: `/archivist/v1/events/${uuid}`, isList: false }];
}
