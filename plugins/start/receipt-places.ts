import { Redis } from 'ioredis';
import type { Logger } from '../../src/platform/logger.js';
import { REDIS_OPTIONS } from '../../src/platform/queue/redis-options.js';
import type { ReceiptPlaces } from '../receipts/publish-receipt.js';
import type { PluginSettings } from '../settings/plugin-settings.js';
import type { Closable } from './start-capture-methods.js';

const DAYS = 90;

/** Where receipts are sent, and the Redis connection for it; undefined when receipts are not fetched. */
export function receiptPlaces(settings: PluginSettings, logger: Logger): (ReceiptPlaces & Closable) | undefined {
  if (!settings.receipts) return undefined;
  const { receiptUrl: url, receiptKey: key, receiptDays: days = DAYS, conserverRedisUrl } = settings;
  const redis =
    key && conserverRedisUrl ? new Redis(conserverRedisUrl, { ...REDIS_OPTIONS, maxRetriesPerRequest: 1 }) : undefined;
  redis?.on('error', (error) => logger.warn({ err: error }, 'the Redis of CONSERVER_REDIS_URL does not answer'));
  return { url, key, days, redis, close: async () => redis?.disconnect() };
}
