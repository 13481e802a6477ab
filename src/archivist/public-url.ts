import { z } from 'zod';

/** The public URL of a resource, in a response. */
export const publicUrlSchema = z.strictObject({ publicurl: z.string() });
