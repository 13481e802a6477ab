import { z } from 'zod';
import { listReply } from '../http/list-response.js';
import type { Reply } from '../http/route.js';

/**
 * The query of a list that is always returned whole: there is never a second page, so no token is valid. Refuses other
 * parameters.
 */
export const wholeListQuery = z.strictObject({
  page_size: z
    .string()
    .refine((text) => /^\d*$/.test(text), 'must be a whole number of entries')
    .optional()
    .meta({ type: 'integer', minimum: 0 }),
  page_token: z.string().max(0, 'must be empty: this list has one page').optional(),
});

/** All of a list. */
export function wholeListReply(key: string, items: readonly unknown[]): Reply {
  return listReply({ key, items, nextPageToken: '', total: items.length });
}
