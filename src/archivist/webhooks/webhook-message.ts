import type { PlacedEvent } from '../live/read-event-page.js';
import type { WebhookEventType } from './webhook.js';

const GAP = 'vcon_capture_gap';
const CONSENT: ReadonlySet<unknown> = new Set(['vcon_consent_accepted', 'vcon_consent_revoked']);
/** Attributes that are identities, kinds or hashes; texts that people have written are left out. */
const CARRIED = ['vcon_operation', 'subject', 'payload', 'payload_hash_alg'] as const;
const SUBJECT = /^vcon:\/\/[0-9a-f-]{36}$/i;
const HASH = /^[0-9a-f]{64,128}$/i;
/** An operation's name has up to 64 characters, and `vcon_` may stand before them. */
const WORD = /^[A-Za-z0-9_-]{1,69}$/;

/** What there is to tell about an event. */
export function typesOf({ name, json }: PlacedEvent): WebhookEventType[] {
  if (name === 'security_event') return isKeyChange(json) ? ['key.changed'] : [];
  const operation = attributesOf(json)['vcon_operation'];
  if (operation === GAP) return ['event.confirmed', 'capture.gap'];
  return CONSENT.has(operation) ? ['event.confirmed', 'consent.changed'] : ['event.confirmed'];
}

/** The data of a delivery about an event: identities, statuses and hashes, as it is shown to the application now. */
export function messageData(type: WebhookEventType, { position, json }: PlacedEvent): Record<string, unknown> {
  const attributes = attributesOf(json);
  return {
    identity: json['identity'],
    ...('asset_identity' in json ? { asset_identity: json['asset_identity'] } : {}),
    position: position.toString(),
    confirmation_status: json['confirmation_status'],
    ...(type === 'key.changed'
      ? { action: attributes['action'], resource: attributes['resource'] }
      : carried(attributes)),
  };
}

function isKeyChange(json: Readonly<Record<string, unknown>>): boolean {
  const { action } = attributesOf(json);
  return typeof action === 'string' && action.startsWith('keys.');
}

function attributesOf(json: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return (json['event_attributes'] ?? json['attributes'] ?? {}) as Record<string, unknown>;
}

/** Only values of their usual form: an attribute of any other form could be anything. */
function carried(attributes: Readonly<Record<string, unknown>>): Record<string, string> {
  const form = { vcon_operation: WORD, subject: SUBJECT, payload: HASH, payload_hash_alg: WORD };
  return Object.fromEntries(
    CARRIED.flatMap((name) => {
      const value = attributes[name];
      return typeof value === 'string' && form[name].test(value) ? [[name, value]] : [];
    }),
  );
}
