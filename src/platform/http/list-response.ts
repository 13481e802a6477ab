import type { Reply } from './route.js';

/** One page of a collection, as a list route returns it. */
interface ListPage {
  /** The member of the body that holds the items. */
  readonly key: string;
  readonly items: readonly unknown[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  /** Number of entries in the whole list, as far as it was counted. */
  readonly total?: number | undefined;
  /** The list has more entries than were counted. */
  readonly cut?: boolean | undefined;
  /** The server's result limit: a longer list is returned as partial content. */
  readonly limit?: number | undefined;
}

/**
 * The reply of a list (docs/design/interface.md#lists): `x-total-count` if the total is known, and 206 with
 * `content-range` if it exceeds the result limit or counting ended before the list.
 */
export function listReply(page: ListPage): Reply {
  const body = { [page.key]: page.items, next_page_token: page.nextPageToken };
  if (page.total === undefined) return { body };
  const headers = { 'x-total-count': String(page.total) };
  if (page.limit === undefined || (page.total <= page.limit && !page.cut)) return { body, headers };
  const range = `items 0-${Math.min(page.limit, page.total)}/${page.total}`;
  return { status: 206, body, headers: { ...headers, 'content-range': range } };
}
