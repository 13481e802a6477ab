import type { ReadJson } from './event-stream.js';
import type { Json } from './json-members.js';
import { listReader } from './list-reader.js';

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
 * @param most no page is read after this many entries; the whole list if undefined
 * @throws {Unanswered}
 */
export async function readList(
  read: ReadJson,
  path: string,
  key: string,
  most = Number.POSITIVE_INFINITY,
): Promise<ReadList> {
  const items: Json[] = [];
  const list = listReader(read, path, key);
  while (list.hasMore() && items.length < most) items.push(...(await list.next(most - items.length)));
  return { items, isWhole: !list.hasMore() };
}
