import pg from 'pg';
import { READ_TYPES } from './read-types.js';

/** SQLSTATE of a statement that was not run, because one before it in its transaction had failed. */
export const IN_FAILED_TRANSACTION = '25P02';

/** A statement to be sent. */
export interface UnsentStatement {
  readonly text: string;
  /** Always bound. */
  readonly values: readonly unknown[];
  /** Under which the connection keeps it. */
  readonly name: string | undefined;
  /** Its rows are read; otherwise only their number. */
  readonly hasRows: boolean;
  resolve(result: pg.QueryResult): void;
  reject(error: Error): void;
}

type Connection = pg.Connection & {
  /** Names that were sent to be parsed, with their texts, until the server has parsed them. */
  readonly submittedNamedStatements: Record<string, string>;
};

/** What the driver calls on a query while the answer arrives; its types leave that out. */
interface DriverQuery {
  name?: string | undefined;
  text?: string | undefined;
  callback?: (error: Error | null) => void;
  submit(connection: Connection): Error | null;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleEmptyQuery(connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}

/**
 * Sends statements with one Sync, after the last (PostgreSQL 17, section 53.2.3): the server writes its answers to the
 * socket at a Sync, and the driver would send one after each statement. If a statement fails, none of those after it is
 * run, not even a commit; they fail with {@link IN_FAILED_TRANSACTION}.
 */
export function sendTogether(client: pg.ClientBase, statements: readonly UnsentStatement[]): void {
  let failure: Error | undefined;
  const queries = statements.map((statement) =>
    driverQuery(statement, (error) => {
      failure ??= error;
    }),
  );
  /** How many are answered. */
  let answered = 0;
  const current = () => queries[answered]!;
  // The driver pipelines only what is of its class.
  const batch: DriverQuery = Object.assign(new pg.Query({ text: '' }) as unknown as DriverQuery, {
    submit(connection: Connection) {
      connection.stream.cork();
      let sent = 0;
      for (const query of queries) {
        const refused = query.submit(withoutSync(connection, statements[sent]!.hasRows));
        if (refused) query.handleError(refused, connection);
        sent += 1;
        if (failure) break;
      }
      connection.sync();
      connection.stream.uncork();
      for (const { reject } of statements.slice(sent)) reject(notRun());
      // With one whose values cannot be sent: the server parses it.
      queries.length = sent;
      waitForNext();
      return null;
    },
    handleRowDescription: (message: unknown) => current().handleRowDescription(message),
    handleDataRow: (message: unknown) => current().handleDataRow(message),
    handleCommandComplete(message: unknown, connection: Connection) {
      current().handleCommandComplete(message, connection);
      answer(connection);
    },
    handleEmptyQuery: answer,
    handleReadyForQuery: () => batch.callback?.(null),
    handleError(error: Error, { submittedNamedStatements }: Connection) {
      const unanswered = statements.slice(answered, queries.length);
      answered = queries.length;
      for (const [place, { name, reject }] of unanswered.entries()) {
        if (name !== undefined) delete submittedNamedStatements[name];
        reject(place > 0 && isOfServer(error) ? notRun() : error);
      }
      batch.callback?.(error);
    },
  });
  function answer(connection: Connection): void {
    current().handleReadyForQuery(connection);
    answered += 1;
    waitForNext();
  }
  /** The driver notes for a connection that it has parsed the query that it waits for. */
  function waitForNext(): void {
    batch.name = queries[answered]?.name;
    batch.text = queries[answered]?.text;
  }
  client.query(batch as DriverQuery & pg.Submittable);
}

function driverQuery(statement: UnsentStatement, failed: (error: Error) => void): DriverQuery {
  const { text, values, name, hasRows, resolve, reject } = statement;
  const config = {
    text,
    values: values as unknown[],
    types: READ_TYPES,
    queryMode: 'extended',
    ...(name === undefined ? {} : { name }),
  };
  const query = new pg.Query(config, (error, result) => {
    if (!error) return resolve(result);
    failed(error);
    reject(error);
  }) as unknown as DriverQuery;
  return hasRows ? query : Object.assign(query, { handleDataRow: () => undefined });
}

/** A connection as one of several queries sees it. It keeps the name of a statement whose values cannot be sent. */
function withoutSync(connection: Connection, hasRows: boolean): Connection {
  const nothing = (): void => undefined;
  const leftOut = hasRows ? {} : { describe: nothing };
  return Object.assign(Object.create(connection), { sync: nothing, close: nothing, ...leftOut });
}

/**
 * True for an error of the server, which runs nothing after it. After a lost connection, or the error of a pooler that has
 * lost its own, all may have been run. Only the server names a routine of its source.
 */
function isOfServer(error: Error): boolean {
  return error instanceof pg.DatabaseError && error.routine !== undefined;
}

function notRun(): Error {
  return Object.assign(new Error('a statement before it has failed'), { code: IN_FAILED_TRANSACTION });
}
