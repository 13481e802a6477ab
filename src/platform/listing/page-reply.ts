import { z } from 'zod';
import { listReply } from '../http/list-response.js';
import type { Reply } from '../http/route.js';
import type { Page } from './list-page.js';
import { RESULT_LIMIT } from './list-query.js';

/** A page in a response. */
export function pageSchema(key: string, entry: z.ZodType) {
  return z.strictObject({ [key]: z.array(entry), next_page_token: z.string() });
}

/** A page in the form of the interface: the collection, `next_page_token`, x-total-count, and 206 where that is not the whole list. */
export function pageReply(key: string, page: Page<Record<string, unknown>>): Reply {
  return listReply({
    key,
    items: page.entries,
    nextPageToken: page.nextPageToken,
    total: page.total,
    cut: page.cut,
    limit: RESULT_LIMIT,
  });
}
