import type { Tx } from '../../src/platform/postgres/database.js';

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** A transaction that counts what its statements read. */
export interface WatchedRows {
  readonly tx: Tx;
  /** Rows that were read from tables, those that a filter then removed among them; of this table, or of all. */
  read(table?: string): number;
  /** Statements that call a function of the index of terms. */
  functions(): number;
}

/** Counts rows from the plans of the statements, so that no limit depends on the speed of the machine. */
export function watchedRows(tx: Tx): WatchedRows {
  const rows = new Map<string, number>();
  let functions = 0;
  const count = (node: PlanNode): void => {
    const table = node['Relation Name'];
    const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
    if (table) rows.set(table, (rows.get(table) ?? 0) + (node['Actual Rows'] + removed) * node['Actual Loops']);
    for (const each of node.Plans ?? []) count(each);
  };
  return {
    tx: {
      execute: (...statement) => tx.execute(...statement),
      query: async (text, values) => {
        const [row] = await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
          `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`,
          values,
        );
        count(row!['QUERY PLAN'][0].Plan);
        if (/archivist\.(find|count)_/.test(text)) functions += 1;
        return tx.query(text, values);
      },
    },
    read: (table) => (table ? (rows.get(table) ?? 0) : [...rows.values()].reduce((sum, each) => sum + each, 0)),
    functions: () => functions,
  };
}
