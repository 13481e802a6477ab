import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import { MOST_VALUES, OversizedEntry } from '../../platform/http/read-json.js';

/** Most events of one bulk request, and most bytes of its body (docs/design/README.md#data). */
const MAX_BULK_EVENTS = 1000;
export const MAX_BULK_BODY = 8 * 1024 * 1024;
/** Most values of that body; a hundred for each of 1,000 events. */
export const MAX_BULK_VALUES = 100_000;

/** Body of a bulk create. Events are validated one by one, so that an invalid event affects only its own result. */
export const bulkSchema = z.object({ events: z.array(z.unknown()).min(1).max(MAX_BULK_EVENTS) });

/**
 * Response of a bulk create: for each event in order, the event or its error, with the status of a separate create
 * request.
 */
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
interface BulkItem {
  readonly idempotencyKey: string | undefined;
  /** Names the asset, if the path does not. */
  readonly assetIdentity: string | undefined;
  /** The body of a separate create request. */
  readonly body: unknown;
  /** That body as JSON without spaces. */
  readonly rawBody: string;
}

/**
 * Reads one event of a bulk request.
 * @param limit most bytes of a separate create request
 * @throws {ZodError} or {ApiError} naming the field
 */
export function readBulkItem(value: unknown, limit: number): BulkItem {
  if (value instanceof OversizedEntry)
    throw new ApiError(
      'bad_request',
      `The event has more than ${MOST_VALUES} values. Every object, every list and each of their members counts.`,
    );
  const { idempotency_key: key, asset_identity: assetIdentity } = envelopeSchema.parse(value);
  const { idempotency_key: _key, asset_identity: _asset, ...body } = value as Record<string, unknown>;
  const rawBody = JSON.stringify(body);
  if (Buffer.byteLength(rawBody) > limit)
    throw new ApiError('payload_too_large', `An event may have at most ${limit} bytes.`);
  return { idempotencyKey: key ?? undefined, assetIdentity: assetIdentity ?? undefined, body, rawBody };
}
