import { FilterError } from '../../filter/filter-error.js';
import { ApiError } from '../../platform/errors.js';

/**
 * What `read` makes of a caller's filter.
 * @throws {ApiError} bad_request for a filter that cannot be read, naming its field and the character
 */
export function readFilter<Filter>(read: () => Filter): Filter {
  try {
    return read();
  } catch (error) {
    if (error instanceof FilterError) throw new ApiError('bad_request', error.message);
    throw error;
  }
}
