import { Counter, Histogram, type Registry } from 'prom-client';
import { DURATION_BUCKETS } from './duration-buckets.js';

/** Requests, and what they created. */
export interface RequestMetrics {
  readonly requests: Histogram<'operation' | 'status'>;
  /** A create request was answered: `earlier` is one that repeated an idempotency key. */
  accepted(kind: 'asset' | 'asset_event' | 'asset_free_event' | 'earlier'): void;
  batchAccepted(size: number): void;
}

const BATCH_SIZES = [1, 2, 5, 10, 20, 50, 100, 200];

/** Declares the metrics in this registry. */
export function createRequestMetrics(registry: Registry): RequestMetrics {
  const registers = [registry];
  const requests = new Histogram({
    name: 'archivist_request_seconds',
    help: 'Time to answer a request, by operation and status',
    labelNames: ['operation', 'status'],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const accepted = new Counter({
    name: 'archivist_accepted_total',
    help: 'Create requests whose rows are committed, by what they created; earlier: a repeated idempotency key',
    labelNames: ['kind'],
    registers,
  });
  const batches = new Histogram({
    name: 'archivist_accept_batch_size',
    help: 'Create requests that were committed in one transaction',
    buckets: BATCH_SIZES,
    registers,
  });
  return {
    requests,
    accepted: (kind) => accepted.inc({ kind }),
    batchAccepted: (size) => batches.observe(size),
  };
}
