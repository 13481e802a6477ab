import { createHmac } from 'node:crypto';
import { toBase64 } from '../../core/bytes.js';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A new secret in the form of Standard Webhooks: `whsec_` and base64 of 32 random bytes. */
export function newWebhookSecret(randomBytes: (count: number) => Uint8Array): string {
  return PREFIX + toBase64(randomBytes(SECRET_BYTES));
}

/**
 * The headers of a delivery (Standard Webhooks 1.0.0, "Webhook headers"): `v1,` and base64 of HMAC-SHA-256 over id,
 * timestamp in Unix seconds and body, joined by full stops.
 */
export function webhookHeaders(
  secret: string,
  message: { readonly id: string; readonly unixSeconds: number; readonly body: string },
): Record<string, string> {
  const { id, unixSeconds, body } = message;
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${unixSeconds}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(unixSeconds),
    'webhook-signature': `v1,${signature}`,
  };
}
