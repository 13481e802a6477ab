import { FilterError } from '../../filter/filter-error.js';
import { ApiError } from '../../platform/errors.js';

/**
 * Returns what `read` parses from a caller's filter.
 * @throws {ApiError} bad_request for an invalid filter, with its field and the position of the error
 */
export function readFilter<Filter>(read: () => Filter): Filter {
  try {
    return read();
  } catch (error) {
    if (error instanceof FilterError) throw new ApiError('bad_request', error.message);
    throw error;
  }
}
