import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type EventPage, eventStream } from './event-stream.js';
import type { RecordedEvent } from './recorded-event.js';
import { FOUND_AT_ONCE, type SearchQuery, type Source, sourcesOf } from './search-query.js';
import { readJson, Unanswered } from './session-reader.js';

/** A reader who types is not answered letter by letter. */
const PAUSE_MS = 250;

/** The answer to a query, as far as it was read. */
export interface SearchState {
  readonly events: readonly RecordedEvent[];
  readonly hidden: readonly string[];
  /** There are no others; false as long as a reading has failed. */
  readonly isLast: boolean;
  readonly isBusy: boolean;
  readonly fault?: Unanswered | undefined;
}

const EMPTY: SearchState = { events: [], hidden: [], isLast: true, isBusy: true };

/** A search, as far as it was read. */
interface Search {
  /** The query as text. */
  readonly key: string;
  /** Reads on. @throws {Unanswered} */
  readonly next: (count: number) => Promise<EventPage>;
  /** Aborted if nobody waits for what is being read. */
  readonly stopped: AbortController;
  state: SearchState;
  /** Identity of the event that the reader opened last. */
  opened?: string;
}

/** Where a search outlives the view, for a reader who comes back to it. */
export type KeptSearch = RefObject<Search | undefined>;

/**
 * Goes on with the search that was kept, or searches anew, and again whenever the query changes; an answer to an older
 * query is dropped. What was found stays if reading on fails.
 */
export function useSearch(query: SearchQuery, key: string, kept: KeptSearch) {
  const isThere = () => kept.current?.key === key && !kept.current.state.isBusy;
  const [state, setState] = useState<SearchState>(isThere() ? kept.current!.state : EMPTY);
  const load = async (search: Search) => {
    const before = search.state;
    const show = (found: SearchState) => {
      if (search.stopped.signal.aborted) return;
      search.state = found;
      setState(found);
    };
    search.state = { ...before, isBusy: true };
    setState((old) => ({ ...old, isBusy: true, fault: undefined }));
    try {
      const page = await search.next(FOUND_AT_ONCE);
      show({ ...page, events: [...before.events, ...page.events], isBusy: false });
    } catch (error) {
      if (search.stopped.signal.aborted) return;
      if (!(error instanceof Unanswered)) throw error;
      show({ ...before, isLast: false, isBusy: false, fault: error });
    }
  };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const begin = () => {
      const stopped = new AbortController();
      const sources: readonly Source[] = sourcesOf(query, FOUND_AT_ONCE);
      const next = eventStream(sources, (path) => readJson(path, stopped.signal));
      kept.current = { key, next, stopped, state: EMPTY };
      load(kept.current);
    };
    if (isThere()) setState(kept.current!.state);
    else {
      setState((old) => ({ ...old, isBusy: true }));
      timer = setTimeout(begin, PAUSE_MS);
    }
    return () => {
      clearTimeout(timer);
      if (kept.current?.state.isBusy) kept.current.stopped.abort();
    };
  }, [key]);
  return {
    state,
    more: () => kept.current && load(kept.current),
    /** Index of the event that the reader opened last; -1 if there is none. */
    opened: state.events.findIndex(({ identity }) => identity === kept.current?.opened),
    open(event: RecordedEvent) {
      if (kept.current) kept.current.opened = event.identity;
    },
  };
}
