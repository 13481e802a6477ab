import type { ReadJson } from './event-stream.js';
import { type Json, memberOf } from './json-members.js';

const PAGE = 1000;

/** Entries of a list of the interface. */
interface ReadList {
  readonly items: readonly Json[];
  /** There are no others. */
  readonly isWhole: boolean;
}

/**
 * Reads a list of the interface page by page, as the service orders it.
 * @param path without `page_size` and `page_token`
 * @param key the member of a page that has its entries
 * @param most no page is read after this many entries
 * @throws {Unanswered}
 */
export async function readList(read: ReadJson, path: string, key: string, most: number): Promise<ReadList> {
  const items: Json[] = [];
  let token = '';
  do {
    const url = new URL(path, location.origin);
    url.searchParams.set('page_size', String(Math.min(PAGE, most - items.length)));
    if (token !== '') url.searchParams.set('page_token', token);
    const page = await read(url.pathname + url.search);
    items.push(...((memberOf(page, key) ?? []) as readonly Json[]));
    const next = memberOf(page, 'next_page_token');
    token = typeof next === 'string' ? next : '';
  } while (token !== '' && items.length < most);
  return { items, isWhole: token === '' };
}
