import { useEffect, useRef, useState } from 'preact/hooks';
import { readConversation, type Wanted } from './conversation.js';
import type { EventPage } from './event-stream.js';
import { readJson, Unanswered } from './session-reader.js';
import { useLive, withFinished } from './use-live.js';

interface Loaded {
  readonly page?: EventPage;
  /** The page is a part: older events are not read yet. */
  readonly isPart?: boolean;
  readonly fault?: Unanswered;
}

/** What is known so far of the events of a place, the newest first. */
export interface KnownConversation extends Loaded {
  /** Reads it again; what is there stays until then. */
  reload(): void;
}

/** Reads the events of a place whenever it changes, and hears of those that get their receipts. */
export function useConversation(place: Wanted): KnownConversation {
  const [loaded, setLoaded] = useState<Loaded>({});
  const shown = useRef('');
  const load = (id: string) =>
    readConversation(place, readJson, (part) => {
      if (shown.current === id) setLoaded((old) => (old.page && !old.isPart ? old : { page: part, isPart: true }));
    })
      .then((read) => {
        if (shown.current === id) setLoaded((old) => ({ page: withFinished(read, old.page?.events ?? []) }));
      })
      .catch((error: unknown) => {
        if (!(error instanceof Unanswered)) throw error;
        // What is there stays.
        if (shown.current === id) setLoaded((old) => (old.page && !old.isPart ? old : { ...old, fault: error }));
      });
  const here = `${place.kind} ${place.id} ${place.at ?? ''}`;
  useEffect(() => {
    shown.current = here;
    setLoaded({});
    load(here);
    return () => {
      shown.current = '';
    };
  }, [here]);
  const reload = () => void load(here);
  const whole = loaded.isPart ? undefined : loaded.page;
  useLive(whole?.events ?? [], reload, (told) =>
    setLoaded((old) => (old.page ? { page: withFinished(old.page, [told]) } : old)),
  );
  return { ...loaded, reload };
}
