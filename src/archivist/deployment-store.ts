import { selected, table } from '../platform/postgres/columns.js';
import type { Tx } from '../platform/postgres/database.js';
import { insertRows } from '../platform/postgres/insert-rows.js';
import type { Deployment } from './deployment.js';

const DEPLOYMENT = table('deployment').columns<Deployment & { readonly createdAt: Date }>({
  deploymentTenancy: 'deployment_tenancy',
  publicTenancy: 'public_tenancy',
  publicStatementLog: 'public_statement_log',
  privateStatementLog: 'private_statement_log',
  keysLog: 'keys_log',
  createdAt: 'created_at',
});
const FIXED = ['deploymentTenancy', 'publicTenancy', 'publicStatementLog', 'privateStatementLog', 'keysLog'] as const;

/** The deployment of this database, or undefined before its bootstrap. */
export async function findDeployment(tx: Tx): Promise<Deployment | undefined> {
  const [deployment] = await tx.query<Deployment>(
    `SELECT ${selected(DEPLOYMENT, 'd', FIXED)} FROM archivist.deployment d`,
  );
  return deployment;
}

export async function insertDeployment(tx: Tx, deployment: Deployment, createdAt: Date): Promise<void> {
  await insertRows(tx, DEPLOYMENT, [{ ...deployment, createdAt }]);
}

/** An arbitrary number that every process uses at start. */
const BOOTSTRAP_LOCK = 7_364_921;

/** Waits until no other transaction runs the bootstrap. The lock is released with the transaction. */
export async function lockBootstrap(tx: Tx): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [BOOTSTRAP_LOCK]);
}
