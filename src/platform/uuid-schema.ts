import { z } from 'zod';

// The OpenAPI documents show this pattern: callers may send either case.
const UUID = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

/** A UUID in a path, in either case; read as lower case. */
export const uuidSchema = z
  .string()
  .toLowerCase()
  .regex(new RegExp(`^${UUID}$`), 'must be a UUID');

/** An asset's UUID, or `-` for all assets. One pattern, because generated clients make a class of a union. */
export const uuidOrAllSchema = z
  .string()
  .toLowerCase()
  .regex(new RegExp(`^(-|${UUID})$`), 'must be a UUID, or - for all');
