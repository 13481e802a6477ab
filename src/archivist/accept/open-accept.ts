import type { Backlog } from '../../ledger/backlog.js';
import type { HaltedLogs } from '../../ledger/halted/watch-halted-logs.js';
import type { Clock } from '../../platform/clock.js';
import { type Feature, HOUSEKEEPING_ROLES } from '../../platform/feature.js';
import type { Logger } from '../../platform/logger.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { startPurgeIdempotencyJob } from '../idempotency/purge-idempotency-job.js';
import { type AcceptWriter, type AcceptWriterDeps, createAcceptWriter } from './accept-writer.js';

interface AcceptBase
  extends Pick<AcceptWriterDeps, 'database' | 'deployment' | 'ids' | 'failpoints' | 'quotas' | 'nudge' | 'prepare'> {
  /** Dates what is recorded. */
  readonly rightClock: Clock;
  readonly logger: Logger;
  readonly backend: QueueBackend;
  readonly halted: HaltedLogs;
  readonly backlog: Backlog;
  readonly metrics: AcceptWriterDeps['metrics'];
}

/** The only write path for creates, with the job that deletes old idempotency keys. */
export function openAccept(base: AcceptBase): Feature & { readonly writer: AcceptWriter } {
  const { rightClock, halted, backlog } = base;
  const writer = createAcceptWriter({
    ...base,
    clock: rightClock,
    halted: halted.has,
    wallets: new Map(),
    statementAssets: new Map(),
    admit: backlog.admit,
  });
  return {
    writer,
    jobs: [{ roles: HOUSEKEEPING_ROLES, start: () => startPurgeIdempotencyJob({ ...base, clock: rightClock }) }],
    close: () => writer.drain(),
  };
}
