import { z } from 'zod';
import { ApiError } from '../errors.js';

/** The query parameter of every PATCH (docs/design/interface.md#shapes): names of members, separated by commas. */
export const MASK = 'mask';

/**
 * The members of a PATCH body that its mask names; without a mask, all of them. A member of the schema that the body
 * does not have gets the zero value of its type, as the original's field masks define it. Only a list does not: an access
 * policy whose filters were misspelt would select everything.
 * @throws {ApiError} bad_request for a mask that names a list which the body does not have, or a member which neither the
 *   body nor the schema has
 */
export function maskedBody(mask: unknown, body: unknown, schema: z.ZodType): unknown {
  if (mask === undefined || mask === '' || typeof body !== 'object' || body === null || Array.isArray(body))
    return body;
  if (typeof mask !== 'string') throw new ApiError('bad_request', `${MASK}: must be given once`);
  const members = body as Record<string, unknown>;
  const shape: Readonly<Record<string, z.ZodType>> = schema instanceof z.ZodObject ? schema.shape : {};
  const masked = mask.split(',').map((given): [string, unknown] => {
    const name = given.trim();
    if (Object.hasOwn(members, name)) return [name, members[name]];
    const zero = Object.hasOwn(shape, name) ? zeroOf(shape[name]!) : undefined;
    if (zero !== undefined) return [name, zero];
    throw new ApiError('bad_request', `${MASK}: names ${JSON.stringify(name)}, which is no member of this body`);
  });
  return Object.fromEntries(masked);
}

function zeroOf(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return zeroOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe)
    return zeroOf((schema.in instanceof z.ZodTransform ? schema.out : schema.in) as z.ZodType);
  if (schema instanceof z.ZodArray) return undefined;
  if (schema instanceof z.ZodNumber) return 0;
  if (schema instanceof z.ZodBoolean) return false;
  return schema instanceof z.ZodString ? '' : {};
}
