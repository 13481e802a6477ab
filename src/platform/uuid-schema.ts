import { z } from 'zod';

/** A UUID in a path, in either case; read as lower case. */
export const uuidSchema = z
  .string()
  .toLowerCase()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be a UUID');

/** An asset's UUID, or `-` for all assets. */
export const uuidOrAllSchema = z.union([z.literal('-'), uuidSchema]);
