import type { OutboundFetch } from '../../platform/http/outbound-fetch.js';
import { OutboundRefused } from '../../platform/http/outbound-fetch.js';
import type { SealedBox } from '../../platform/keys/sealed-box.js';
import { pageFor, type QueueDeliveriesDeps } from './queue-deliveries.js';
import { noticeFor } from './read-notice.js';
import { webhookHeaders } from './sign-webhook.js';
import { messageId, type Webhook, type WebhookDelivery } from './webhook.js';
import {
  countSetAside,
  deleteEndedDeliveries,
  recordAttempt,
  takeDueDeliveries,
  type WebhookAddress,
  webhooksWithDue,
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
const WEBHOOKS_AT_ONCE = 10;
/** Deliveries that a webhook's receiver has to answer at once. */
const OF_ONE_WEBHOOK = 4;
/** Webhooks of one run at most. */
const MOST_WEBHOOKS = 1_000;
/** After this, a run takes nothing more: receivers that answer wait no longer than this and one attempt for their turn. */
const RUN_MS = 3 * SECOND;
const KEPT_MS = 30 * 24 * HOUR;

export interface SendDeliveriesDeps extends QueueDeliveriesDeps {
  /** For addresses that users have entered: it refuses private networks and redirects, and ends after five seconds. */
  readonly fetch: OutboundFetch;
  readonly secrets: SealedBox;
  /** Told how many deliveries were given up, in all tenancies. */
  readonly setAside: (count: number) => void;
}

/**
 * Sends what is due at this moment, each at least once, for some seconds or until `stopping` returns true; the next run goes
 * on. Some webhooks are served at once, each with a few deliveries at a time, so a receiver that does not answer holds up
 * only its own. A failed delivery is repeated over about three days and then set aside.
 */
export async function sendDeliveries(deps: SendDeliveriesDeps, stopping: () => boolean): Promise<void> {
  const { database, clock } = deps;
  const due = new Date(clock.now());
  const isOver = () => stopping() || clock.now() >= due.getTime() + RUN_MS;
  const webhooks = await database.inTransaction('system', (tx) => webhooksWithDue(tx, due, MOST_WEBHOOKS));
  let next = 0;
  const serve = async () => {
    for (let at = next++; at < webhooks.length && !isOver(); at = next++)
      await sendOfWebhook(deps, webhooks[at]!, due, isOver);
  };
  await Promise.all(Array.from({ length: WEBHOOKS_AT_ONCE }, serve));
  const count = await database.inTransaction('system', async (tx) => {
    await deleteEndedDeliveries(tx, new Date(clock.now() - KEPT_MS));
    return countSetAside(tx);
  });
  deps.setAside(count);
}

async function sendOfWebhook(
  deps: SendDeliveriesDeps,
  webhook: WebhookAddress,
  due: Date,
  isOver: () => boolean,
): Promise<void> {
  const { database, clock, logger } = deps;
  const failed = (error: unknown) =>
    logger.warn({ err: error, webhook: webhook.webhookId }, 'deliveries of a webhook failed; they are retried');
  const take = () =>
    database.inTransaction('system', (tx) =>
      takeDueDeliveries(tx, webhook, { due, now: new Date(clock.now()), limit: OF_ONE_WEBHOOK }),
    );
  try {
    for (let taken = await take(); taken.length > 0; taken = isOver() ? [] : await take())
      await Promise.all(taken.map((delivery) => sendOne(deps, delivery).catch(failed)));
  } catch (error) {
    failed(error);
  }
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

const WITHHELD = 'the application may no longer read it';

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
