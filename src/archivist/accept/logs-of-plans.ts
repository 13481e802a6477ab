import type { Plan } from './plan.js';

/** The logs that these plans write to, each once. */
export function logsOf(plans: readonly Plan[]): { tenantId: string; logId: string }[] {
  const logs = new Map<string, { tenantId: string; logId: string }>();
  for (const { intake } of plans) for (const { tenantId, logId } of intake) logs.set(logId, { tenantId, logId });
  return [...logs.values()];
}
