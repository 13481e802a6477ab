import { z } from 'zod';
import { OWNER_ROLE } from './owner-and-creator.js';

/** Roles in a body, each once. `ROLE_UNSPECIFIED` is in the documents of the original, and gives no role. */
export const rolesSchema = z
  .array(z.enum(['ROLE_UNSPECIFIED', OWNER_ROLE]))
  .max(16)
  .transform((given) => [...new Set(given)].filter((role) => role !== 'ROLE_UNSPECIFIED'));
