import type { z } from 'zod';
import { FilterError } from '../filter/filter-error.js';

/** Reports the error of a filter that `read` parses as the schema's: the path of the entry, the reason and the character. */
export function refuseUnreadable(context: z.RefinementCtx, read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    const path = [...error.field.matchAll(/\w+/g)].map(([step]) => (/^\d+$/.test(step) ? Number(step) : step));
    context.addIssue({ code: 'custom', path, message: `${error.reason} at character ${error.position + 1}` });
  }
}
