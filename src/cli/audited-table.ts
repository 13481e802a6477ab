/** The columns of a table whose changes the audit finds, and the others with the reason why it does not. */
export interface AuditedTable {
  readonly covered: readonly string[];
  readonly open: Readonly<Record<string, string>>;
}
