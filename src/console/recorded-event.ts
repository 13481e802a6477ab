import { ASSET_TEXTS } from './asset-texts.js';
import { operationName } from './claim-view.js';
import { type Json, known, memberOf, textOf } from './json-members.js';
import { TEXTS } from './texts.js';

/** An event as the service shows it. Nothing of it is proven. */
export interface RecordedEvent {
  /** Such as `assets/<uuid>/events/<uuid>` or `events/<uuid>`. */
  readonly identity: string;
  readonly title: string;
  readonly operation?: string;
  /** When the service accepted it. */
  readonly accepted: string;
  /** Name of who recorded it; empty in the public form. */
  readonly by: string;
  readonly status: string;
  readonly subject?: string;
  /** The first conversation of the history that it belongs to. */
  readonly history?: string;
  /** Of an event without an asset. */
  readonly trails: readonly string[];
  /** Hex SHA-256 of the conversation file. */
  readonly payload?: string;
  readonly attributes: Json;
  /** As served. */
  readonly json: Json;
}

/** The service itself records these, and no caller has an empty issuer. */
const POLICY_TYPE = 'arc_access_policy';

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Reads an event of an asset, or an asset-free one. */
export function recordedEvent(json: Json): RecordedEvent {
  const attributes = (json['event_attributes'] ?? json['attributes'] ?? {}) as Json;
  const of = (name: string) => text(memberOf(attributes, name));
  const members = {
    operation: of('vcon_operation'),
    subject: of('subject'),
    history: of('vcon_history'),
    payload: of('payload'),
  };
  const principal = json['principal_accepted'];
  return {
    identity: textOf(json['identity'] ?? ''),
    title: eventTitle(json),
    accepted: text(json['timestamp_accepted']) ?? timeOf(json['created_at']),
    by:
      text(memberOf(principal, 'display_name')) ??
      text(memberOf(principal, 'subject')) ??
      text(json['created_by']) ??
      '',
    status: textOf(json['confirmation_status'] ?? ''),
    trails: Array.isArray(json['trails']) ? json['trails'].map(textOf) : [],
    attributes,
    json,
    ...Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)),
  };
}

/** The asset of an event, by its UUID; undefined without one. */
export const assetOf = ({ identity }: RecordedEvent): string | undefined =>
  /^assets\/([^/]+)\/events\//.exec(identity)?.[1];

/** The events that a past state contains. */
export function acceptedUntil(events: readonly RecordedEvent[], at: string): readonly RecordedEvent[] {
  return events.filter(({ accepted }) => Date.parse(accepted) <= Date.parse(at));
}

/** What happened, as a person calls it. */
function eventTitle(json: Json): string {
  const attributes = json['event_attributes'] ?? json['attributes'];
  const operation = memberOf(attributes, 'vcon_operation');
  const type = memberOf(attributes, 'arc_display_type');
  if (typeof operation === 'string') return operationName(operation);
  if (type === POLICY_TYPE && memberOf(json['principal_accepted'], 'issuer') === '') return ASSET_TEXTS.policyChanged;
  const name = text(type) ?? known(TEXTS.eventKinds, json['operation']) ?? text(json['event_type']);
  return name ?? TEXTS.noOperation;
}

/** An asset-free event has its time in Unix milliseconds. */
function timeOf(unixMs: unknown): string {
  return typeof unixMs === 'number' && Math.abs(unixMs) <= 8.64e15 ? new Date(unixMs).toISOString() : '';
}
