import type { SqlStatement, Tx } from './database.js';

/**
 * Sends statements at once; each runs after the one before.
 * @throws the refusal of the first one that fails
 */
export async function executeAll(tx: Tx, statements: readonly SqlStatement[]): Promise<void> {
  const results = await Promise.allSettled(statements.map(({ text, values }) => tx.execute(text, values)));
  for (const [place, result] of results.entries()) {
    if (result.status === 'fulfilled') continue;
    const { refusal } = statements[place]!;
    throw refusal ? refusal(result.reason) : result.reason;
  }
}
