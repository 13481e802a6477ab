import { z } from 'zod';
import type { Ended } from '../capture/capture-operation.js';
import { type CaptureMethod, type Observation, streamSequence } from '../operation/capture-sequence.js';
import { namedOperation, OperationError } from '../operation/operation.js';
import type { VconFacts } from '../operation/vcon-facts.js';

/** An entry of the stream is no record of an operation. The message says why, and quotes nothing. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
}

const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'must be a UUID')
  .toLowerCase();
const digest = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits');
const MAX_CONSENTS = 1000;

const consentsSchema = z.array(z.object({ digest, granted: z.array(digest).max(MAX_CONSENTS) })).max(MAX_CONSENTS);

const recordSchema = z.object({
  version: z.literal('1', 'is of a wheel that this plugin does not know'),
  method: z.enum(['link', 'tracer']),
  operation: z.string(),
  // Whatever a conserver holds is evidence: without a UUID the subject comes from the hash.
  uuid: uuid.optional().catch(undefined),
  hash: digest,
  link: z.string().optional(),
  chain: z.string().optional(),
  tenancy: z.string().optional(),
  nonce: z.string().optional(),
  created_at: z.string().optional(),
  updated_at: z.string().optional(),
  vcon: z.string().optional(),
  amended: uuid.optional().catch(undefined),
  redacted: uuid.optional().catch(undefined),
  consents: z.string().optional(),
});
type StreamRecord = z.output<typeof recordSchema>;

function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown, prefix: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new RecordError(`${[prefix, ...issue!.path].filter((part) => part !== '').join('.')}: ${issue!.message}`);
}

function consentsOf(text: string): z.output<typeof consentsSchema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RecordError('consents: is not JSON');
  }
  return parsed(consentsSchema, value, 'consents');
}

function factsOf(record: StreamRecord): VconFacts {
  return {
    payload: record.hash,
    ...(record.consents === undefined ? {} : { consents: consentsOf(record.consents) }),
    ...(record.uuid ? { uuid: record.uuid } : { form: 'malformed' }),
    ...(record.created_at ? { createdAt: record.created_at } : {}),
    ...(record.updated_at ? { updatedAt: record.updated_at } : {}),
    ...(record.vcon ? { vconMember: record.vcon } : {}),
    ...(record.amended ? { amended: record.amended } : {}),
    ...(record.redacted ? { redacted: record.redacted } : {}),
  };
}

function observationOf(id: string): Observation {
  const [ms = '', count = ''] = id.split('-');
  if (!/^\d+$/.test(ms) || !/^\d+$/.test(count)) throw new RecordError('its id is not that of a stream entry');
  return { atMs: Number(ms), sequence: streamSequence(Number(ms), Number(count)) };
}

/**
 * Reads an entry that the wheel's link or tracer has appended. The entry's id says when, and in which order.
 * @param fields names and values in turn, as Redis gives them
 * @throws {RecordError}
 */
export function readStreamEntry(id: string, fields: readonly string[]): Ended {
  const pairs = Array.from({ length: fields.length >> 1 }, (_, place) => [fields[2 * place]!, fields[2 * place + 1]!]);
  const record = parsed(recordSchema, Object.fromEntries(pairs), '');
  const method: CaptureMethod = record.method;
  try {
    return {
      operation: namedOperation(record.operation, record),
      vcon: factsOf(record),
      method,
      observed: observationOf(id),
    };
  } catch (error) {
    if (error instanceof OperationError) throw new RecordError(error.message);
    throw error;
  }
}
