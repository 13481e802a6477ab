import { VerificationError } from '../errors.js';
import type { V3Event } from '../event/v3-event.js';
import { parseUnambiguousJson } from '../vcon/unambiguous-json.js';

/** Where a log holds an event: node index in decimal, idtimestamp in 18 hex characters, epoch first. */
export interface LogCommit {
  readonly index: string;
  readonly idtimestamp: string;
}

/** A frozen event of an asset: the fields that its leaf covers, and its place in the log. */
export type AssetEventDocument = V3Event & { readonly merklelog_entry: { readonly commit: LogCommit } };

/**
 * A frozen asset-free event. Its identity is not covered by the leaf; without an event type, as services other than ours
 * freeze it, neither are creator and time.
 */
export interface AssetFreeEventDocument {
  readonly identity: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly trails: readonly string[];
  readonly event_type?: string;
  readonly origin_tenant: string;
  readonly created_by: string;
  readonly created_at: string;
  readonly merklelog_commit: LogCommit;
}

/** The event that a transparent statement carries, as its log committed to it. */
export type EventDocument = AssetEventDocument | AssetFreeEventDocument;

const MAX_DEPTH = 64;
const V3_TEXTS = [
  'identity',
  'operation',
  'behaviour',
  'tenant_identity',
  'timestamp_declared',
  'timestamp_accepted',
  'timestamp_committed',
] as const;
const ASSET_FREE_TEXTS = ['identity', 'origin_tenant', 'created_by', 'created_at'] as const;

type Json = Readonly<Record<string, unknown>>;

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', `not a frozen event: ${reason}`);
}

function object(value: unknown, name: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(`${name} is not an object`);
  return value as Json;
}

function checkDepth(value: unknown, left: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (left === 0) throw malformed('it is nested too deeply');
  for (const member of Object.values(value)) checkDepth(member, left - 1);
}

function texts<Name extends string>(event: Json, names: readonly Name[]): Record<Name, string> {
  const read: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const text = event[name];
    if (typeof text !== 'string') throw malformed(`${name} is not text`);
    read[name] = text;
  }
  return read as Record<Name, string>;
}

/** The service shows an event also before a log holds it: without a commit, or an asset-free one without its time. */
function readCommit(value: unknown): LogCommit {
  const commit = value === null ? undefined : texts(object(value, 'the log commit'), ['index', 'idtimestamp']);
  if (!commit?.idtimestamp)
    throw new VerificationError('insufficient_data', 'no log holds the event yet: fetch it again once it is confirmed');
  if (!/^(0|[1-9][0-9]{0,19})$/.test(commit.index)) throw malformed('index is not a decimal number');
  if (!/^[0-9a-f]{18}$/.test(commit.idtimestamp)) throw malformed('idtimestamp is not 18 hex characters');
  return commit;
}

function assetEvent(event: Json): AssetEventDocument {
  const entry = object(event['merklelog_entry'], 'merklelog_entry');
  const { identity, operation, behaviour, tenant_identity, ...timestamps } = texts(event, V3_TEXTS);
  return {
    identity,
    operation,
    behaviour,
    tenant_identity,
    ...timestamps,
    asset_attributes: object(event['asset_attributes'], 'asset_attributes'),
    event_attributes: object(event['event_attributes'], 'event_attributes'),
    principal_accepted: object(event['principal_accepted'], 'principal_accepted'),
    principal_declared: object(event['principal_declared'], 'principal_declared'),
    merklelog_entry: { commit: readCommit(entry['commit']) },
  };
}

/** Served as a number, frozen as text: the log covers its decimal digits. */
function createdAt({ created_at: value }: Json): Json {
  return { created_at: Number.isSafeInteger(value) ? String(value) : value };
}

function assetFreeEvent(event: Json): AssetFreeEventDocument {
  const { attributes, trails } = event;
  if (!Array.isArray(trails) || !trails.every((trail) => typeof trail === 'string'))
    throw malformed('trails is not a list of texts');
  return {
    ...texts({ ...event, ...createdAt(event) }, ASSET_FREE_TEXTS),
    ...('event_type' in event ? texts(event, ['event_type']) : {}),
    attributes: object(attributes, 'attributes'),
    trails,
    merklelog_commit: readCommit(event['merklelog_commit']),
  };
}

/** Returns whether an event belongs to an asset; the first part of its identity says so. */
export function isAssetEvent(event: EventDocument): event is AssetEventDocument {
  return !event.identity.startsWith('events/');
}

/**
 * Reads the JSON of a frozen event. Keeps only what the log commits to, because other fields prove nothing.
 * @throws {VerificationError} `malformed`; `insufficient_data` if no log holds the event yet
 */
export function parseEventDocument(text: string): EventDocument {
  return readEventDocument(parseUnambiguousJson(text));
}

/**
 * Reads a frozen event from JSON that is already parsed.
 * @throws {VerificationError} `malformed`, `insufficient_data`
 */
export function readEventDocument(value: unknown): EventDocument {
  checkDepth(value, MAX_DEPTH);
  const event = object(value, 'it');
  const { identity } = event;
  if (typeof identity !== 'string') throw malformed('identity is not text');
  if (/^(public)?assets\//.test(identity)) return assetEvent(event);
  if (identity.startsWith('events/')) return assetFreeEvent(event);
  throw malformed('identity is neither that of an asset event nor of an asset-free event');
}
