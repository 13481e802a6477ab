import { useEffect, useRef, useState } from 'preact/hooks';
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

interface Search {
  /** Reads on. @throws {Unanswered} */
  readonly next: (count: number) => Promise<EventPage>;
  /** Aborted as soon as the query has changed. */
  readonly signal: AbortSignal;
}

/** Searches whenever the query changes; an answer to an older query is dropped. What was found stays if reading on fails. */
export function useSearch(query: SearchQuery, key: string) {
  const [state, setState] = useState<SearchState>(EMPTY);
  const current = useRef<Search | undefined>(undefined);
  const load = async ({ next, signal }: Search, before: SearchState) => {
    setState((old) => ({ ...old, isBusy: true, fault: undefined }));
    try {
      const page = await next(FOUND_AT_ONCE);
      if (!signal.aborted) setState({ ...page, events: [...before.events, ...page.events], isBusy: false });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Unanswered)) throw error;
      setState({ ...before, isLast: false, isBusy: false, fault: error });
    }
  };
  useEffect(() => {
    const stopped = new AbortController();
    const begin = () => {
      const sources: readonly Source[] = sourcesOf(query, FOUND_AT_ONCE);
      const next = eventStream(sources, (path) => readJson(path, stopped.signal));
      current.current = { next, signal: stopped.signal };
      load(current.current, EMPTY);
    };
    setState((old) => ({ ...old, isBusy: true }));
    const timer = setTimeout(begin, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stopped.abort();
    };
  }, [key]);
  return { state, more: () => current.current && load(current.current, state) };
}
