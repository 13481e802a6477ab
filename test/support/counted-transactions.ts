import type { Database } from '../../src/platform/postgres/database.js';

/** A database that counts the transactions that are begun with `inTransaction`. */
export function countedTransactions(database: Database): {
  readonly database: Database;
  readonly asked: { transactions: number };
} {
  const asked = { transactions: 0 };
  return {
    asked,
    database: {
      ...database,
      inTransaction: (scope, work) => {
        asked.transactions += 1;
        return database.inTransaction(scope, work);
      },
    },
  };
}
