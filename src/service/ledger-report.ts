import type { LedgerContext } from '../ledger/ledger-context.js';
import { SEAL_PUBLISHED } from '../ledger/receipt-watch.js';
import type { LedgerMetrics } from '../ledger/round.js';
import type { Announcements } from '../platform/postgres/announcements.js';

/** Where a ledger reports what it does. */
export interface LedgerReport {
  readonly metrics: LedgerMetrics;
  readonly published: LedgerContext['published'];
}

/** Announces published seals to all processes, and to this one with what their receipts are made of. */
export function announceSeals(announcements: Announcements): LedgerReport['published'] {
  return ({ logId }, batch) => announcements.announce(SEAL_PUBLISHED, logId, batch);
}
