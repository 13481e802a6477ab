import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';

/** Most events of one bulk request, and most bytes of its body (docs/design/README.md#data). */
export const MAX_BULK_EVENTS = 1000;
export const MAX_BULK_BODY = 8 * 1024 * 1024;

/** Body of a bulk create. What is wrong with one event is said of that event, so they are read one by one. */
export const bulkSchema = z.object({ events: z.array(z.unknown()).min(1).max(MAX_BULK_EVENTS) });

/** Answer of a bulk create: each event in its place, or why it was refused, under the status of its own create request. */
export function bulkAnswerSchema(event: z.ZodType) {
  const refusal = { error: z.string().optional(), description: z.string().optional() };
  return z.strictObject({
    events: z.array(z.strictObject({ status: z.int(), event: event.optional(), ...refusal })),
  });
}

const envelopeSchema = z.object({
  idempotency_key: z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
    .nullish(),
  asset_identity: z.string().nullish(),
});

/** One event of a bulk request. */
export interface BulkItem {
  readonly idempotencyKey: string | undefined;
  /** Of which asset, where the path does not say. */
  readonly assetIdentity: string | undefined;
  /** What its own create request would have as body. */
  readonly body: unknown;
  /** That body as JSON without spaces. */
  readonly rawBody: string;
}

/**
 * Takes one event of a bulk request apart.
 * @param limit most bytes that its own create request may have
 * @throws {ZodError} or {ApiError} naming the field
 */
export function readBulkItem(value: unknown, limit: number): BulkItem {
  const { idempotency_key: key, asset_identity: assetIdentity } = envelopeSchema.parse(value);
  const { idempotency_key: _key, asset_identity: _asset, ...body } = value as Record<string, unknown>;
  const rawBody = JSON.stringify(body);
  if (Buffer.byteLength(rawBody) > limit)
    throw new ApiError('payload_too_large', `An event may have ${limit} bytes at most.`);
  return { idempotencyKey: key ?? undefined, assetIdentity: assetIdentity ?? undefined, body, rawBody };
}
