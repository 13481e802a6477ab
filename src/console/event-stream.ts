import { type Json, memberOf } from './json-members.js';
import { type RecordedEvent, recordedEvent } from './recorded-event.js';
import { laterPage, type Source } from './search-query.js';
import { Unanswered } from './session-reader.js';

/** Reads JSON of the service. @throws {Unanswered} */
export type ReadJson = (path: string) => Promise<unknown>;

/** Some events, the newest first. */
export interface EventPage {
  readonly events: readonly RecordedEvent[];
  /** There are no others. If it is false, there may be. */
  readonly isLast: boolean;
  /** What the service refused to show, in its own words. */
  readonly hidden: readonly string[];
}

interface Head {
  readonly source: Source;
  events: RecordedEvent[];
  /** Of the next page; undefined after the last one. */
  token: string | undefined;
}

/** A text that sorts by time: the event's UUID of version 7. */
export const ageOf = ({ identity }: RecordedEvent): string => identity.slice(identity.lastIndexOf('/') + 1);

/**
 * Reads several lists as one, each event once, the newest first. A page is read when its first event is needed.
 * @returns a function that reads the next events. A reading that fails can be repeated, and leaves none out.
 * @throws {Unanswered}
 */
export function eventStream(sources: readonly Source[], read: ReadJson): (count: number) => Promise<EventPage> {
  const heads: Head[] = sources.map((source) => ({ source, events: [], token: '' }));
  const seen = new Set<string>();
  const hidden = new Set<string>();
  /** Taken from the lists, and not returned yet. */
  let events: RecordedEvent[] = [];

  const dropSeen = (head: Head) => {
    head.events = head.events.filter(({ identity }) => !seen.has(identity));
  };

  async function fill(head: Head): Promise<void> {
    for (dropSeen(head); head.token !== undefined && head.events.length === 0; dropSeen(head)) {
      const { events, next } = await pageOf(head.source, head.token, read, hidden);
      head.events = events;
      head.token = next;
    }
  }

  const taken = (): EventPage => {
    heads.forEach(dropSeen);
    const isLast = heads.every((head) => head.token === undefined && head.events.length === 0);
    const page = { events, isLast, hidden: [...hidden] };
    events = [];
    return page;
  };

  return async (count) => {
    for (;;) {
      if (events.length >= count) return taken();
      await allOf(heads.map(fill));
      const full = heads.filter((head) => head.events.length > 0);
      if (full.length === 0) return taken();
      const first = full.reduce((newest, head) => (ageOf(head.events[0]!) > ageOf(newest.events[0]!) ? head : newest));
      const event = first.events.shift()!;
      seen.add(event.identity);
      events.push(event);
    }
  };
}

/** Fails only after all have ended, so that a repeated reading meets none that is still under way. */
async function allOf(under: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(under)).find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
}

async function pageOf(source: Source, token: string, read: ReadJson, hidden: Set<string>) {
  try {
    return await listed(source, token, read);
  } catch (error) {
    if (!(error instanceof Unanswered) || !['absent', 'hidden'].includes(error.reason)) throw error;
    // One text can be the id of several kinds of things; most of them do not exist.
    if (error.reason === 'hidden') hidden.add(error.message);
    return { events: [], next: undefined };
  }
}

async function listed(source: Source, token: string, read: ReadJson) {
  const answer = await read(token === '' ? source.path : laterPage(source, token));
  if (!source.isList) return { events: [recordedEvent(answer as Json)], next: undefined };
  const next = memberOf(answer, 'next_page_token');
  return { events: eventsOf(answer), next: typeof next === 'string' && next !== '' ? next : undefined };
}

const eventsOf = (answer: unknown): RecordedEvent[] =>
  (memberOf(answer, 'events') as readonly Json[]).map(recordedEvent);
