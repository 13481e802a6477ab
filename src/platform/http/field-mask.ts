import { ApiError } from '../errors.js';

/** The query parameter of every PATCH (docs/design/interface.md#shapes): names of members, separated by commas. */
export const MASK = 'mask';

/**
 * The members of a PATCH body that its mask names; without a mask, all of them.
 * @throws {ApiError} bad_request for a mask that names a member which the body does not have
 */
export function maskedBody(mask: unknown, body: unknown): unknown {
  if (mask === undefined || mask === '' || typeof body !== 'object' || body === null || Array.isArray(body))
    return body;
  if (typeof mask !== 'string') throw new ApiError('bad_request', `${MASK}: must be given once`);
  const members = body as Record<string, unknown>;
  const names = mask.split(',').map((name) => name.trim());
  const missing = names.find((name) => !Object.hasOwn(members, name));
  if (missing !== undefined)
    throw new ApiError('bad_request', `${MASK}: names ${JSON.stringify(missing)}, which the body does not have`);
  return Object.fromEntries(names.map((name) => [name, members[name]]));
}
