import type { Reply } from './route.js';

/** One page of a collection as a list route answers it. */
export interface ListPage {
  /** The member of the body that holds the items. */
  readonly key: string;
  readonly items: readonly unknown[];
  /** Empty when no further page exists. */
  readonly nextPageToken: string;
  /** How many the whole list has, as far as that was counted. */
  readonly total?: number | undefined;
  /** The server's result limit: a longer list is answered as partial content. */
  readonly limit?: number | undefined;
}

/**
 * The reply of a list (docs/design/interface.md#lists): `x-total-count` whenever the total is known, and 206 with
 * `content-range` when it exceeds the result limit.
 */
export function listReply(page: ListPage): Reply {
  const body = { [page.key]: page.items, next_page_token: page.nextPageToken };
  if (page.total === undefined) return { body };
  const headers = { 'x-total-count': String(page.total) };
  if (page.limit === undefined || page.total <= page.limit) return { body, headers };
  return { status: 206, body, headers: { ...headers, 'content-range': `items 0-${page.limit}/${page.total}` } };
}
