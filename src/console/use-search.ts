import { useEffect, useRef, useState } from 'preact/hooks';
import { type EventPage, eventStream } from './event-stream.js';
import type { RecordedEvent } from './recorded-event.js';
import { type SearchQuery, type Source, sourcesOf } from './search-query.js';
import { readJson, Unanswered } from './session-reader.js';

const PAGE = 25;
/** A reader who types is not answered letter by letter. */
const PAUSE_MS = 250;

/** The answer to a query, as far as it was read. */
export interface SearchState {
  readonly events: readonly RecordedEvent[];
  readonly hidden: readonly string[];
  readonly isLast: boolean;
  readonly isBusy: boolean;
  readonly fault?: Unanswered | undefined;
}

const EMPTY: SearchState = { events: [], hidden: [], isLast: true, isBusy: true };

type Next = (count: number) => Promise<EventPage>;

/** Searches whenever the query changes; an answer to an older query is dropped. */
export function useSearch(query: SearchQuery, key: string) {
  const [state, setState] = useState<SearchState>(EMPTY);
  const current = useRef<Next | undefined>(undefined);
  const load = async (next: Next, before: readonly RecordedEvent[]) => {
    setState((old) => ({ ...old, isBusy: true, fault: undefined }));
    try {
      const page = await next(PAGE);
      if (current.current === next) setState({ ...page, events: [...before, ...page.events], isBusy: false });
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      if (current.current === next) setState({ ...EMPTY, isBusy: false, fault: error });
    }
  };
  useEffect(() => {
    const stopped = new AbortController();
    const begin = () => {
      const sources: readonly Source[] = sourcesOf(query, PAGE);
      const next = eventStream(sources, (path) => readJson(path, stopped.signal));
      current.current = next;
      load(next, []).catch((error: unknown) => {
        if (!stopped.signal.aborted) throw error;
      });
    };
    setState((old) => ({ ...old, isBusy: true }));
    const timer = setTimeout(begin, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stopped.abort();
    };
  }, [key]);
  return { state, more: () => current.current && load(current.current, state.events) };
}
