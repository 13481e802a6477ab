import type { SqlStatement, Tx } from './database.js';

/**
 * Sends statements at once, but after a long one only when it has run; each runs after the one before.
 * @param sent called when all are sent
 * @throws the refusal of the first one that fails
 */
export async function executeAll(
  tx: Tx,
  statements: Iterable<SqlStatement>,
  sent?: () => Promise<void>,
): Promise<void> {
  const running: Promise<unknown>[] = [];
  for (const { text, values, refusal, isLong } of statements) {
    const run = tx.execute(text, values).catch((error: unknown) => {
      throw refusal ? refusal(error) : error;
    });
    // Read below; the next ones must go out before it is known.
    run.catch(() => undefined);
    running.push(run);
    if (isLong) await untilRun(running);
  }
  await sent?.();
  await untilRun(running);
}

async function untilRun(running: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(running)) if (result.status === 'rejected') throw result.reason;
}
