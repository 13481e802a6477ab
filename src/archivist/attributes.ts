import { z } from 'zod';
import { AttributeError, checkAttributes } from '../core/event/attribute-rules.js';
import { ApiError } from '../platform/errors.js';

/** Free key/value data of assets and events after `readAttributes`: strings, objects and lists only. */
export type Attributes = Readonly<Record<string, unknown>>;

/**
 * Attributes in responses. The OpenAPI documents leave the values open: what generators for Go and Java make of a union
 * with maps and lists does not compile.
 */
export const attributesSchema = z.record(
  z.string(),
  z
    .custom<string | object>((value) => typeof value === 'string' || (typeof value === 'object' && value !== null))
    .meta({ description: 'Text, an object or a list' }),
);

/** Attributes in requests, for their description: `readAttributes` refuses the values that it does not name. */
export const sentAttributesSchema = z.record(
  z.string(),
  z.unknown().meta({ description: 'Text, an object or a list, also within these; not a number or a boolean' }),
);

/**
 * Returns attributes as they will be stored, hashed and served: nulls are dropped, nothing else is changed. Names that
 * start with `jit_` are refused; unknown `arc_` names are accepted (docs/design/interface.md#assets).
 * @throws {ApiError} bad_request naming the offending attribute
 */
export function readAttributes(value: unknown, field: string): Attributes {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw new ApiError('bad_request', `${field}: must be an object`);
  const reserved = Object.keys(value).find((name) => name.startsWith('jit_'));
  if (reserved !== undefined)
    throw new ApiError('bad_request', `${field}.${reserved}: names starting with jit_ are reserved`);
  try {
    return checkAttributes(value, field) as Attributes;
  } catch (error) {
    if (error instanceof AttributeError) throw new ApiError('bad_request', `${error.path}: ${error.reason}`);
    throw error;
  }
}
