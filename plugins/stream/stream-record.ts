import { z } from 'zod';
import type { Ended } from '../capture/ended.js';
import { type CaptureMethod, type Observation, streamSequence } from '../operation/capture-sequence.js';
import { areComparable } from '../operation/consent.js';
import { ENDINGS, type EndingFound, STORAGE_ANSWERS } from '../operation/ending.js';
import { namedOperation, OperationError } from '../operation/operation.js';
import type { VconFacts } from '../operation/vcon-facts.js';
import { vconTexts } from '../operation/vcon-texts.js';
import { isAhead, type RedisClock } from './redis-clock.js';

/** An entry of the stream is not a valid record of an operation. The message says why, and quotes nothing. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
}

const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'must be a UUID')
  .toLowerCase();
const digest = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits');
const digests = z.array(digest);
const index = z.number().int().nonnegative();
const place = z.object({ party: index, of: index }).optional();
const consentsSchema = z.array(z.object({ digest, granted: digests, refused: digests.optional(), place }));

const recordSchema = z.object({
  version: z.literal('1', 'comes from a wheel version that this plugin does not support'),
  method: z.enum(['link', 'tracer']),
  operation: z.string(),
  // Everything that a conserver holds is evidence: without a UUID the subject comes from the hash.
  uuid: uuid.optional().catch(undefined),
  key: uuid.optional().catch(undefined),
  hash: digest,
  form: z.enum(['unsigned', 'signed', 'encrypted', 'malformed']).optional(),
  jcs: digest.optional(),
  jcs_lossy: z.literal('true').optional(),
  innermost: digest.optional(),
  skimmed: z.literal('true').optional(),
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
  /** The first id of an entry that was set aside and appended again. */
  entry: z.string().optional(),
});
type StreamRecord = z.output<typeof recordSchema>;

const endingSchema = z.object({
  version: z.literal('1', 'comes from a wheel version that this plugin does not support'),
  operation: z.enum(ENDINGS),
  key: uuid,
  storages: z.string(),
  entry: z.string().optional(),
});
const MAX_STORAGES = 256;
const storagesSchema = z
  .record(z.string().min(1), z.enum(STORAGE_ANSWERS))
  .refine((storages) => Object.keys(storages).length <= MAX_STORAGES, `must be ${MAX_STORAGES} at most`);

function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown, prefix: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new RecordError(`${[prefix, ...issue!.path].filter((part) => part !== '').join('.')}: ${issue!.message}`);
}

function parsedJson<Schema extends z.ZodType>(schema: Schema, text: string, name: string): z.output<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RecordError(`${name}: is not JSON`);
  }
  return parsed(schema, value, name);
}

/** Wheels before 0.2 send no form. */
function formOf({ form, uuid }: StreamRecord): Pick<VconFacts, 'form'> {
  if (form) return { form };
  return uuid ? {} : { form: 'malformed' };
}

function consentsOf({ consents: text }: StreamRecord): Pick<VconFacts, 'consents'> {
  if (text === undefined) return {};
  const consents = parsedJson(consentsSchema, text, 'consents');
  return areComparable(consents) ? { consents } : {};
}

function factsOf(record: StreamRecord): VconFacts {
  return {
    payload: record.hash,
    ...consentsOf(record),
    ...formOf(record),
    ...(record.uuid ? { uuid: record.uuid } : {}),
    ...(record.jcs ? { jcs: { hash: record.jcs, lossy: record.jcs_lossy === 'true' } } : {}),
    ...(record.innermost ? { innermostPayloadHash: record.innermost } : {}),
    ...(record.skimmed ? { skimmed: true } : {}),
    ...vconTexts({ updatedAt: record.updated_at, createdAt: record.created_at, vconMember: record.vcon }),
    ...(record.amended ? { amended: record.amended } : {}),
    ...(record.redacted ? { redacted: record.redacted } : {}),
  };
}

function observationOf(id: string, shown: RedisClock | undefined): Observation {
  const [ms = '', count = ''] = id.split('-');
  if (!/^\d+$/.test(ms) || !/^\d+$/.test(count)) throw new RecordError('its id is not that of a stream entry');
  const atMs = Number(ms);
  const timeUnknown = shown !== undefined && isAhead(atMs, shown);
  const clockWrong = timeUnknown || shown?.differs;
  return {
    atMs,
    ...(clockWrong && { clockWrong }),
    ...(timeUnknown && { timeUnknown }),
    sequence: streamSequence(atMs, Number(count)),
    ...(shown && { aheadMs: shown.aheadMs }),
  };
}

/**
 * A tracer's entry is a change that happened, so each is an operation of its own, also one back to an earlier state. A
 * link's is a passage, which a conserver may repeat.
 */
function nonceOf({ method, nonce }: StreamRecord, entry: string): string | undefined {
  return method === 'tracer' ? [nonce, entry].filter(Boolean).join('.') : nonce;
}

/** Turns alternating names and values, as Redis returns them, into an object. */
function membersOf(fields: readonly string[]): Record<string, string> {
  const pairs = Array.from({ length: fields.length >> 1 }, (_, place) => [fields[2 * place]!, fields[2 * place + 1]!]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

/**
 * Reads an entry of the wheel's link or tracer. The entry's id gives its time and order; the time is wrong if
 * it is later than that Redis's clock, or that clock differs from ours.
 * @param fields alternating names and values, as Redis returns them
 * @param shown what the clock of that Redis shows
 * @throws {RecordError}
 */
export function readStreamEntry(id: string, fields: readonly string[], shown?: RedisClock): Ended {
  const record = parsed(recordSchema, membersOf(fields), '');
  const method: CaptureMethod = record.method;
  const entry = record.entry ?? id;
  try {
    return {
      operation: namedOperation(record.operation, { ...record, nonce: nonceOf(record, entry) }),
      vcon: factsOf(record),
      ...(record.key ? { key: record.key } : {}),
      method,
      observed: observationOf(entry, shown),
    };
  } catch (error) {
    if (error instanceof OperationError) throw new RecordError(error.message);
    throw error;
  }
}

/**
 * Reads an entry that the wheel has appended after it checked the storages; undefined if the entry is of another kind.
 * @param fields alternating names and values, as Redis returns them
 * @throws {RecordError}
 */
export function readEndingEntry(id: string, fields: readonly string[], shown?: RedisClock): EndingFound | undefined {
  const members = membersOf(fields);
  if (members['method'] !== 'storages') return undefined;
  const record = parsed(endingSchema, members, '');
  const storages = new Map(Object.entries(parsedJson(storagesSchema, record.storages, 'storages')));
  return { ending: record.operation, uuid: record.key, storages, observed: observationOf(record.entry ?? id, shown) };
}
