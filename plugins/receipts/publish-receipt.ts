import type { Redis } from 'ioredis';
import { fetchDirect } from '../../src/platform/http/fetch-direct.js';
import { DeliverLater } from '../archivist-client/delivery-failure.js';
import type { ReceiptJob } from './receipt-job.js';

/** Where a receipt is sent, besides the plugin's own memory. */
export interface ReceiptPlaces {
  /** Receives a POST with application/cose; any 2xx accepts it. */
  readonly url?: string | undefined;
  /** A key that contains `{uuid}` and `{hash}`. */
  readonly key?: string | undefined;
  /** The key expires after this many days. */
  readonly days: number;
  /** The Redis of the key. */
  readonly redis?: Redis | undefined;
}

const TIMEOUT_MS = 15_000;
const DAY_SECONDS = 86_400;

async function post(url: string, job: ReceiptJob, bytes: Uint8Array): Promise<void> {
  const headers = {
    'content-type': 'application/cose',
    'x-vcon-subject': job.subject,
    'x-vcon-payload': job.payload,
    'x-vcon-event': job.event,
  };
  const init = { method: 'POST', headers, body: new Blob([Buffer.from(bytes)]) };
  const response = await fetchDirect(url, init, TIMEOUT_MS).catch((error: Error) => {
    throw new DeliverLater(`receipt: PLUGIN_RECEIPT_URL: ${error.name}`);
  });
  await response.body?.cancel();
  if (!response.ok) throw new DeliverLater(`receipt: PLUGIN_RECEIPT_URL answers ${response.status}`);
}

/** Publishes a verified receipt. Idempotent. @throws {DeliverLater} when a place does not accept it */
export async function publishReceipt(places: ReceiptPlaces, job: ReceiptJob, bytes: Uint8Array): Promise<void> {
  const { url, key, days, redis } = places;
  if (key && redis) {
    const uuid = job.subject.slice('vcon://'.length);
    const name = key.replaceAll('{uuid}', uuid).replaceAll('{hash}', job.payload);
    await redis.set(name, Buffer.from(bytes), 'EX', days * DAY_SECONDS);
  }
  if (url) await post(url, job, bytes);
}
