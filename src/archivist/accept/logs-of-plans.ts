import type { LogRef } from '../../ledger/log.js';
import type { Plan } from './plan.js';

/** A log, and how many entries began to wait for it. */
export type LogWithWork = LogRef & { readonly entries: number };

/** The logs that these plans write to, each once. */
export function logsOf(plans: readonly Plan[]): LogWithWork[] {
  const logs = new Map<string, LogRef & { entries: number }>();
  for (const { intake } of plans)
    for (const { tenantId, logId } of intake) {
      const known = logs.get(logId);
      if (known) known.entries += 1;
      else logs.set(logId, { tenantId, logId, entries: 1 });
    }
  return [...logs.values()];
}
