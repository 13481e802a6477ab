import { retryLater } from '../errors.js';

/** Pages of lists that are read and sent may have so much together, so much for one tenancy, and for one caller. */
const TOTAL_BYTES = 32 * 1024 * 1024;
const TENANCY_BYTES = 24 * 1024 * 1024;
const CALLER_BYTES = 16 * 1024 * 1024;
/** Callers without a token count as one tenancy together. */
const NO_TENANCY = '';
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

/** Who asks for a page: an identity of a tenancy, or an address. */
interface PageReader {
  readonly caller: string;
  readonly tenancy?: string | undefined;
}

/** Room for the pages of lists that a process reads and sends at the same time. */
export interface PageRoom {
  /**
   * Waits in turn until there is room for a page.
   * @throws {ApiError} unavailable after 20 seconds, or when the client has disconnected
   */
  hold(reader: PageReader, gone: AbortSignal): Promise<PageHold>;
}

interface Waiting {
  readonly reader: PageReader;
  admit(): void;
}

/**
 * Limits the memory of pages: otherwise, the rows and the responses of all lists that are requested at the same moment
 * are in memory together. A caller has half of the room at most, and a tenancy three quarters: a slow reader leaves room
 * for the others of its tenancy. The first page of a tenancy may go beyond the room, up to its double, so that slow readers
 * of a few tenancies do not keep all others out.
 */
export function createPageRoom(waitMs = WAIT_MS): PageRoom {
  const callers = new Map<string, number>();
  const tenancies = new Map<string, number>();
  const waiting = new Set<Waiting>();
  let total = 0;

  function count({ caller, tenancy = NO_TENANCY }: PageReader, bytes: number): void {
    total += bytes;
    add(callers, caller, bytes);
    add(tenancies, tenancy, bytes);
  }

  function fits({ caller, tenancy = NO_TENANCY }: PageReader): boolean {
    const fitsIn = (held: number | undefined, limit: number) => (held ?? 0) + PAGE_BYTES <= limit;
    return (
      fitsIn(total, tenancies.has(tenancy) ? TOTAL_BYTES : 2 * TOTAL_BYTES) &&
      fitsIn(callers.get(caller), CALLER_BYTES) &&
      fitsIn(tenancies.get(tenancy), TENANCY_BYTES)
    );
  }

  function admitWaiting(): void {
    for (const next of waiting) {
      if (!fits(next.reader)) continue;
      count(next.reader, PAGE_BYTES);
      next.admit();
    }
  }

  function holdOf(reader: PageReader): PageHold {
    let own = PAGE_BYTES;
    const resize = (bytes: number): void => {
      count(reader, bytes - own);
      own = bytes;
      admitWaiting();
    };
    return { resize, release: () => resize(0) };
  }

  /** Resolves when the page has been counted. */
  function turn(reader: PageReader, gone: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const own: Waiting = { reader, admit: () => leave(resolve) };
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
    async hold(reader, gone) {
      // This overtakes no waiting page: they do not fit.
      if (fits(reader)) count(reader, PAGE_BYTES);
      else await turn(reader, gone);
      return holdOf(reader);
    },
  };
}

function add(held: Map<string, number>, holder: string, bytes: number): void {
  const sum = (held.get(holder) ?? 0) + bytes;
  if (sum === 0) held.delete(holder);
  else held.set(holder, sum);
}

const noRoom = () =>
  retryLater('unavailable', 'Too many pages of lists are being read at this moment; try again shortly.', RETRY_SECONDS);
