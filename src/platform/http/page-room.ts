import { retryLater } from '../errors.js';

/** Pages of lists that are read and sent may have so much together, and so much for one caller. */
const TOTAL_BYTES = 32 * 1024 * 1024;
const CALLER_BYTES = TOTAL_BYTES / 2;
/** What a page counts as before it is known: the bytes after which one ends (portion-store.ts). */
const PAGE_BYTES = 2 * 1024 * 1024;
const WAIT_MS = 20_000;
const RETRY_SECONDS = 2;

/** The room of one page. */
export interface PageHold {
  /** The page is known, and counts as its bytes from now on. */
  resize(bytes: number): void;
  release(): void;
}

/** Room for the pages of lists that a process reads and sends at the same time. */
export interface PageRoom {
  /**
   * Waits in turn until there is room for a page.
   * @throws {ApiError} unavailable after 20 seconds, or when the client has disconnected
   */
  hold(caller: string, gone: AbortSignal): Promise<PageHold>;
}

interface Waiting {
  readonly caller: string;
  admit(): void;
}

/**
 * Limits the memory of pages: otherwise, the rows and the responses of all lists that are requested at the same moment
 * are in memory together. A caller has half of the room at most, so that a slow reader leaves room for the others.
 */
export function createPageRoom(waitMs = WAIT_MS): PageRoom {
  const held = new Map<string, number>();
  const waiting = new Set<Waiting>();
  let total = 0;

  function count(caller: string, bytes: number): void {
    const own = (held.get(caller) ?? 0) + bytes;
    total += bytes;
    if (own === 0) held.delete(caller);
    else held.set(caller, own);
  }

  function fits(caller: string): boolean {
    return total + PAGE_BYTES <= TOTAL_BYTES && (held.get(caller) ?? 0) + PAGE_BYTES <= CALLER_BYTES;
  }

  function admitWaiting(): void {
    for (const next of waiting) {
      if (!fits(next.caller)) continue;
      count(next.caller, PAGE_BYTES);
      next.admit();
    }
  }

  function holdOf(caller: string): PageHold {
    let own = PAGE_BYTES;
    const resize = (bytes: number): void => {
      count(caller, bytes - own);
      own = bytes;
      admitWaiting();
    };
    return { resize, release: () => resize(0) };
  }

  /** Resolves when the page has been counted. */
  function turn(caller: string, gone: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const own: Waiting = { caller, admit: () => leave(resolve) };
      const refuse = (): void => leave(() => reject(noRoom()));
      const timer = setTimeout(refuse, waitMs);
      gone.addEventListener('abort', refuse);
      waiting.add(own);
      if (gone.aborted) refuse();

      function leave(then: () => void): void {
        clearTimeout(timer);
        gone.removeEventListener('abort', refuse);
        waiting.delete(own);
        then();
      }
    });
  }

  return {
    async hold(caller, gone) {
      // This overtakes no waiting page: they do not fit.
      if (fits(caller)) count(caller, PAGE_BYTES);
      else await turn(caller, gone);
      return holdOf(caller);
    },
  };
}

const noRoom = () =>
  retryLater('unavailable', 'Too many pages of lists are being read at this moment; try again shortly.', RETRY_SECONDS);
