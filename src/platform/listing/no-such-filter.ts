import { ApiError } from '../errors.js';

/** The refusal of a parameter that a list does not have. @param accepted the filters that it has */
export function noSuchFilter(parameter: string, accepted: readonly string[]): ApiError {
  const others = accepted.length === 0 ? 'this list has none' : `this list has ${accepted.join(', ')}`;
  return new ApiError('bad_request', `${parameter}: no such filter; ${others}`);
}
