import { z } from 'zod';

/** Where anybody can read something public, in an answer. */
export const publicUrlSchema = z.strictObject({ publicurl: z.string() });
