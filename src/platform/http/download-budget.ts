import type { Reply } from './route.js';

/** The bytes that a caller may download in a period. */
export interface DownloadBudget {
  /** Spends what a download costs at least. @throws {ApiError} rate_limited when the caller had spent its budget before */
  begin(caller: string, leastCost: number): Promise<void>;
  /** Spends what it costs more. */
  settle(caller: string, bytes: number): Promise<void>;
}

/** Handles a request whose response counts in the caller's budget. @throws {ApiError} rate_limited */
export async function withinBudget(
  downloads: DownloadBudget,
  leastCost: number,
  caller: string,
  handle: () => Promise<Reply>,
): Promise<Reply> {
  // Before the work: many downloads at the same time would all find the budget unspent.
  await downloads.begin(caller, leastCost);
  const reply = await handle();
  await downloads.settle(caller, Math.max(0, (reply.bytes?.length ?? 0) - leastCost));
  return reply;
}
