import { z } from 'zod';
import { plainText } from '../../platform/plain-text.js';
import { timestampOf, timestampSchema } from '../../platform/timestamps.js';

/** What a webhook can tell. */
const WEBHOOK_EVENT_TYPES = [
  'event.confirmed',
  'consent.changed',
  'key.changed',
  'capture.gap',
  'capture.dead_letters',
  'compliance.changed',
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** The requests that tell an application what happens in its tenancy. */
export interface Webhook {
  readonly tenantId: string;
  readonly webhookId: string;
  readonly applicationId: string;
  readonly displayName: string;
  readonly url: string;
  readonly eventTypes: readonly WebhookEventType[];
  readonly secretSealed: string;
  /** The last position of the tenancy's log for which deliveries were made. */
  readonly cursor: bigint;
  readonly createdAt: Date;
}

export const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'SET_ASIDE', 'WITHHELD'] as const;

/** What is told beside events of the log: identities, statuses and hashes, for webhooks whose applications may read them. */
export interface Notice {
  /** An application, which may read what is about itself, or an asset, for those that may see it. Owners read both. */
  readonly readers: { readonly applicationId: string } | { readonly assetId: string };
  readonly data: Readonly<Record<string, unknown>>;
}

/** One thing to be told. */
export interface WebhookDelivery {
  readonly tenantId: string;
  readonly deliveryId: string;
  readonly webhookId: string;
  /** Of the event in the tenancy's log; null for a notice. */
  readonly position: bigint | null;
  readonly about: Notice | null;
  readonly eventType: WebhookEventType;
  readonly status: (typeof DELIVERY_STATUSES)[number];
  readonly attempts: number;
  readonly nextAttemptAt: Date;
  readonly lastError: string;
  readonly createdAt: Date;
}

const APPLICATION = /^applications\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Body of `POST /archivist/iam/v1/webhooks`. */
export const createWebhookSchema = z.object({
  display_name: plainText(128).min(1),
  application: z.string().regex(APPLICATION, 'must be the identity of an application').optional(),
  url: plainText(2048).meta({ format: 'uri', description: 'Begins with https://, without user and password' }),
  event_types: z.array(z.enum(WEBHOOK_EVENT_TYPES)).min(1).max(16),
});
export type CreateWebhookBody = z.output<typeof createWebhookSchema>;

/** A webhook in a response; only the response to its creation has the secret. */
export const webhookSchema = z.strictObject({
  identity: z.string(),
  display_name: z.string(),
  application: z.string(),
  url: z.string().meta({ format: 'uri' }),
  event_types: z.array(z.enum(WEBHOOK_EVENT_TYPES)),
  position: z.string(),
  created_at: timestampSchema,
  secret: z.string().optional(),
});

export const webhookDeliverySchema = z.strictObject({
  identity: z.string(),
  webhook_id: z.string(),
  event_type: z.enum(WEBHOOK_EVENT_TYPES),
  /** Only about an event of the log. */
  position: z.string().optional(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.int(),
  next_attempt_at: timestampSchema,
  last_error: z.string(),
  created_at: timestampSchema,
});

/** The application's UUID in its identity. */
export function applicationIdOf(identity: string): string {
  return APPLICATION.exec(identity)![1]!;
}

export function webhookIdentity(webhookId: string): string {
  return `webhooks/${webhookId}`;
}

/** The id of a delivery in its requests: the same for each attempt, so that a receiver notices a repetition. */
export function messageId(deliveryId: string): string {
  return `msg_${deliveryId}`;
}

export function webhookResponse(webhook: Webhook, secret?: string): Record<string, unknown> {
  return {
    identity: webhookIdentity(webhook.webhookId),
    display_name: webhook.displayName,
    application: `applications/${webhook.applicationId}`,
    url: webhook.url,
    event_types: webhook.eventTypes,
    position: webhook.cursor.toString(),
    created_at: timestampOf(webhook.createdAt.getTime()),
    ...(secret === undefined ? {} : { secret }),
  };
}

export function webhookDeliveryResponse(delivery: WebhookDelivery): Record<string, unknown> {
  return {
    identity: `${webhookIdentity(delivery.webhookId)}/deliveries/${delivery.deliveryId}`,
    webhook_id: messageId(delivery.deliveryId),
    event_type: delivery.eventType,
    ...(delivery.position === null ? {} : { position: delivery.position.toString() }),
    status: delivery.status,
    attempts: delivery.attempts,
    next_attempt_at: timestampOf(delivery.nextAttemptAt.getTime()),
    last_error: delivery.lastError,
    created_at: timestampOf(delivery.createdAt.getTime()),
  };
}
