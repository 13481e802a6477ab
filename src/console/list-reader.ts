import type { ReadJson } from './event-stream.js';
import { type Json, memberOf } from './json-members.js';

const PAGE = 1000;

/** A list of the interface, read as far as it is wanted. */
export interface ListReader {
  /**
   * Reads on by one page, of at most so many entries. A reading that fails can be repeated.
   * @throws {Unanswered}
   */
  next(most: number): Promise<readonly Json[]>;
  /** Whether there may be entries that were not read. */
  hasMore(): boolean;
}

/**
 * Opens a list of the interface, as the service orders it.
 * @param path without `page_size` and `page_token`
 * @param key the member of a page that has its entries
 */
export function listReader(read: ReadJson, path: string, key: string): ListReader {
  let token: string | undefined = '';
  return {
    async next(most) {
      if (token === undefined) return [];
      const url = new URL(path, location.origin);
      url.searchParams.set('page_size', String(Math.min(PAGE, most)));
      if (token !== '') url.searchParams.set('page_token', token);
      const page = await read(url.pathname + url.search);
      token = (memberOf(page, 'next_page_token') as string | undefined) || undefined;
      return (memberOf(page, key) ?? []) as readonly Json[];
    },
    hasMore: () => token !== undefined,
  };
}
