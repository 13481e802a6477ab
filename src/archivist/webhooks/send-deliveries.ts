import type { OutboundFetch } from '../../platform/http/outbound-fetch.js';
import { OutboundRefused } from '../../platform/http/outbound-fetch.js';
import type { SealedBox } from '../../platform/keys/sealed-box.js';
import type { Logger } from '../../platform/logger.js';
import { pageFor, type QueueDeliveriesDeps } from './queue-deliveries.js';
import { noticeFor } from './read-notice.js';
import { webhookHeaders } from './sign-webhook.js';
import { messageId, type Webhook, type WebhookDelivery } from './webhook.js';
import {
  countSetAside,
  deleteEndedDeliveries,
  FIRST_WEBHOOK,
  recordAttempt,
  takeDueDeliveries,
} from './webhook-delivery-store.js';
import { messageData } from './webhook-message.js';
import { findWebhook } from './webhook-store.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Pauses after failed attempts, about three days together. */
const PAUSES_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  14 * HOUR,
  14 * HOUR,
  14 * HOUR,
  14 * HOUR,
];
const TAKEN_AT_ONCE = 50;
const SENT_AT_ONCE = 10;
const KEPT_MS = 30 * 24 * HOUR;

export interface SendDeliveriesDeps extends QueueDeliveriesDeps {
  readonly logger: Logger;
  /** For addresses that users have entered: it refuses private networks and redirects, and ends after five seconds. */
  readonly fetch: OutboundFetch;
  readonly secrets: SealedBox;
  /** Told how many deliveries were given up, in all tenancies. */
  readonly setAside: (count: number) => void;
}

/**
 * Sends what is due, each at least once, until nothing is due or `stopping` returns true. A failed delivery is repeated
 * over about three days and then set aside.
 */
export async function sendDeliveries(deps: SendDeliveriesDeps, stopping: () => boolean): Promise<void> {
  const { database, clock } = deps;
  // On from the webhook that was last served, so that those with many deliveries do not hold up the others.
  let served = FIRST_WEBHOOK;
  while (!stopping()) {
    const due = await database.inTransaction('system', (tx) =>
      takeDueDeliveries(tx, new Date(clock.now()), TAKEN_AT_ONCE, served),
    );
    if (due.length === 0 && served === FIRST_WEBHOOK) break;
    served = due.reduce(later, FIRST_WEBHOOK);
    let next = 0;
    const work = async () => {
      for (let at = next++; at < due.length; at = next++) await sendOne(deps, due[at]!);
    };
    await Promise.all(Array.from({ length: SENT_AT_ONCE }, work));
  }
  const count = await database.inTransaction('system', async (tx) => {
    await deleteEndedDeliveries(tx, new Date(clock.now() - KEPT_MS));
    return countSetAside(tx);
  });
  deps.setAside(count);
}

type WebhookAddress = Pick<WebhookDelivery, 'tenantId' | 'webhookId'>;

/** The one that PostgreSQL sorts last: it compares UUIDs as their hex digits. */
function later(left: WebhookAddress, right: WebhookAddress): WebhookAddress {
  return left.tenantId + left.webhookId > right.tenantId + right.webhookId ? left : right;
}

async function sendOne(deps: SendDeliveriesDeps, delivery: WebhookDelivery): Promise<void> {
  const { database, clock } = deps;
  const attempts = delivery.attempts + 1;
  const webhook = await database.inTransaction('system', (tx) => findWebhook(tx, delivery));
  if (!webhook) return;
  const fault = await attempt(deps, webhook, delivery);
  const pause = PAUSES_MS[attempts - 1];
  const outcome = (status: WebhookDelivery['status'], inMs = 0) => ({
    status,
    attempts,
    nextAttemptAt: new Date(clock.now() + inMs),
    lastError: fault ?? '',
  });
  await database.inTransaction('system', (tx) => {
    if (fault === undefined) return recordAttempt(tx, delivery, outcome('DELIVERED'));
    if (fault === WITHHELD) return recordAttempt(tx, delivery, outcome('WITHHELD'));
    if (pause === undefined) return recordAttempt(tx, delivery, outcome('SET_ASIDE'));
    return recordAttempt(tx, delivery, outcome('PENDING', pause * jitter(deps)));
  });
}

const WITHHELD = 'the application may not read it any more';

/** 0.8 to 1.2: receivers that failed together are not all asked again together. */
function jitter({ ids }: SendDeliveriesDeps): number {
  const [byte = 0] = ids.randomBytes(1);
  return 0.8 + (0.4 * byte) / 255;
}

/** What the application may read of it now; undefined if that is nothing. */
async function dataOf(
  deps: SendDeliveriesDeps,
  webhook: Webhook,
  { position, about, eventType }: WebhookDelivery,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (about) return noticeFor(deps, webhook, about);
  const [event] = (await pageFor(deps, webhook, position! - 1n, 1n)).events;
  return event && messageData(eventType, event);
}

/** Why the attempt failed; undefined if the receiver has accepted it. */
async function attempt(
  deps: SendDeliveriesDeps,
  webhook: Webhook,
  delivery: WebhookDelivery,
): Promise<string | undefined> {
  const { eventType, deliveryId } = delivery;
  const data = await dataOf(deps, webhook, delivery);
  if (!data) return WITHHELD;
  const secret = deps.secrets.open(webhook.secretSealed, webhook.webhookId);
  if (secret === undefined) return 'the secret of the webhook cannot be read; delete the webhook and make a new one';
  const now = deps.clock.now();
  const body = JSON.stringify({ type: eventType, timestamp: new Date(now).toISOString(), data });
  const headers = webhookHeaders(secret, { id: messageId(deliveryId), unixSeconds: Math.floor(now / 1000), body });
  try {
    const { status } = await deps.fetch(webhook.url, { method: 'POST', headers, body });
    return status >= 200 && status < 300 ? undefined : `the receiver answered ${status}`;
  } catch (error) {
    if (error instanceof OutboundRefused) return error.message;
    deps.logger.warn({ err: error, webhook: webhook.webhookId }, 'a webhook could not be sent');
    return 'the request could not be sent';
  }
}
