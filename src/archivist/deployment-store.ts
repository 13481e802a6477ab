import type { Tx } from '../platform/postgres/database.js';
import type { Deployment } from './deployment.js';

/** The deployment of this database, or undefined before its bootstrap. */
export async function findDeployment(tx: Tx): Promise<Deployment | undefined> {
  const [row] = await tx.query<{
    deployment_tenancy: string;
    public_tenancy: string;
    public_statement_log: string;
    private_statement_log: string;
    keys_log: string;
  }>(
    'SELECT deployment_tenancy, public_tenancy, public_statement_log, private_statement_log, keys_log FROM archivist.deployment',
  );
  if (!row) return undefined;
  return {
    deploymentTenancy: row.deployment_tenancy,
    publicTenancy: row.public_tenancy,
    publicStatementLog: row.public_statement_log,
    privateStatementLog: row.private_statement_log,
    keysLog: row.keys_log,
  };
}

export async function insertDeployment(tx: Tx, deployment: Deployment, createdAt: Date): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.deployment
       (deployment_tenancy, public_tenancy, public_statement_log, private_statement_log, keys_log, created_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      deployment.deploymentTenancy,
      deployment.publicTenancy,
      deployment.publicStatementLog,
      deployment.privateStatementLog,
      deployment.keysLog,
      createdAt,
    ],
  );
}

/** An arbitrary number that every process uses at start. */
const BOOTSTRAP_LOCK = 7_364_921;

/** Waits until no other transaction runs the bootstrap. The lock is released with the transaction. */
export async function lockBootstrap(tx: Tx): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [BOOTSTRAP_LOCK]);
}
