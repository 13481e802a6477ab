import type pg from 'pg';
import type { Scope, Tx } from './database.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ATTEMPTS = 5;

/** What PostgreSQL asks to be repeated, and why it happens here. Nothing was committed in any of these. */
const REPEAT: Readonly<Record<string, string>> = {
  '40001': 'serialization failure: a distributed PostgreSQL met a concurrent write',
  '40P01': 'deadlock: two batches touched the same assets in another order',
};

/** Runs transactions on the clients of a pool. */
export async function transaction<Result>(
  pool: pg.Pool,
  scope: Scope,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await pool.connect();
    let broken: Error | undefined;
    // A connection that ends while it is ours says so by an event as well as by its next query.
    const onError = (error: Error): void => {
      broken = error;
    };
    client.on('error', onError);
    try {
      return await attemptOn(client, scope, work);
    } catch (error) {
      if (attempt >= ATTEMPTS || REPEAT[(error as { code?: string }).code ?? ''] === undefined) throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }
}

async function attemptOn<Result>(
  client: pg.PoolClient,
  scope: Scope,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  await client.query('BEGIN');
  try {
    await enter(client, scope);
    const result = await work(transactionOf(client));
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // The first error is the one to tell; a connection that cannot roll back is dropped by the pool.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** The scope ends with the transaction, so a pooled connection never carries it on. */
async function enter(client: pg.PoolClient, scope: Scope): Promise<void> {
  const [readable, writable, name] =
    scope === 'system' ? ['', '', 'system'] : [uuidArray(scope.read), uuidArray(scope.write), ''];
  await client.query({
    name: 'enter_scope',
    text: `SELECT set_config('archivist.readable', $1, true), set_config('archivist.writable', $2, true), set_config('archivist.scope', $3, true)`,
    values: [readable, writable, name],
  });
}

function uuidArray(ids: readonly string[]): string {
  for (const id of ids) if (!UUID.test(id)) throw new TypeError('a scope names tenancies by UUID');
  return ids.length === 0 ? '' : `{${ids.join(',')}}`;
}

function transactionOf(client: pg.PoolClient): Tx {
  return {
    async query<Row extends object>(text: string, values: readonly unknown[] = []) {
      const result = await client.query<Row>(text, [...values]);
      return result.rows;
    },
    async execute(text, values = []) {
      const result = await client.query(text, [...values]);
      return result.rowCount ?? 0;
    },
  };
}
