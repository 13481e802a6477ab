import { ApiError } from '../../platform/errors.js';
import type { Attributes } from '../attributes.js';

/**
 * Requires an asset with the Document profile to be public: who holds the document verifies it without a token
 * (interface: Asset; DESIGN 10).
 * @param attributes those that the asset is about to have or to change
 * @throws {ApiError} bad_request naming the attribute
 */
export function checkProfile(attributes: Attributes, isPublic: boolean, field: string): void {
  if (attributes['arc_profile'] === 'Document' && !isPublic) {
    throw new ApiError('bad_request', `${field}.arc_profile: the Document profile needs a public asset`);
  }
}
