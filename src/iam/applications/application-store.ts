import { rowList } from '../../platform/listing/row-list-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Application, Credential } from './application.js';

interface ApplicationRow {
  tenant_id: string;
  application_id: string;
  display_name: string;
  custom_claims: Record<string, string>;
  roles: string[];
  created_at: Date;
}

/** Adds an application without any secret. */
export async function insertApplication(tx: Tx, application: Application): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.application (tenant_id, application_id, display_name, custom_claims, roles, created_at)
     VALUES ($1, $2, $3, $4::text::jsonb, $5, $6)`,
    [
      application.tenantId,
      application.applicationId,
      application.displayName,
      JSON.stringify(application.customClaims),
      application.roles,
      application.createdAt,
    ],
  );
}

/** Adds a secret to an application. */
export async function insertCredential(
  tx: Tx,
  application: { tenantId: string; applicationId: string },
  credential: Credential,
): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.application_credential
       (tenant_id, application_id, credential_id, secret_hmac, valid_from, valid_until)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      application.tenantId,
      application.applicationId,
      credential.credentialId,
      credential.secretHmac,
      credential.validFrom,
      credential.validUntil,
    ],
  );
}

/** The application with this id in any enabled tenancy that the transaction may read, with its secrets and epoch. */
export async function findApplicationForToken(
  tx: Tx,
  applicationId: string,
): Promise<{ application: Application; credentials: Credential[]; epoch: number } | undefined> {
  const rows = await tx.query<
    ApplicationRow & {
      credential_id: string | null;
      secret_hmac: Uint8Array;
      valid_from: Date;
      valid_until: Date;
      epoch: bigint | null;
    }
  >(
    `SELECT a.tenant_id, a.application_id, a.display_name, a.custom_claims, a.roles, a.created_at,
            c.credential_id, c.secret_hmac, c.valid_from, c.valid_until, e.epoch
       FROM archivist.application a
       LEFT JOIN archivist.application_credential c USING (tenant_id, application_id)
       LEFT JOIN archivist.token_epoch e ON e.tenant_id = a.tenant_id AND e.client_id = a.application_id
      WHERE a.application_id = $1
        AND EXISTS (SELECT FROM archivist.tenancy t WHERE t.tenant_id = a.tenant_id AND t.disabled_at IS NULL)`,
    [applicationId],
  );
  const first = rows[0];
  if (!first) return undefined;
  const credentials = rows
    .filter((row) => row.credential_id !== null)
    .map((row) => ({
      credentialId: row.credential_id!,
      secretHmac: row.secret_hmac,
      validFrom: row.valid_from,
      validUntil: row.valid_until,
    }));
  return { application: applicationOf(first), credentials, epoch: Number(first.epoch ?? 0) };
}

/** Conditions of a list refer to the table as `a`. */
const COLUMNS = 'a.tenant_id, a.application_id, a.display_name, a.custom_claims, a.roles, a.created_at';

/** Which application of which tenancy. */
type ApplicationAddress = Pick<Application, 'tenantId' | 'applicationId'>;

export async function findApplication(
  tx: Tx,
  { tenantId, applicationId }: ApplicationAddress,
): Promise<Application | undefined> {
  const [row] = await tx.query<ApplicationRow>(
    `SELECT ${COLUMNS} FROM archivist.application a WHERE a.tenant_id = $1 AND a.application_id = $2`,
    [tenantId, applicationId],
  );
  return row && applicationOf(row);
}

/** Conditions refer to a row as `a`. */
export const applicationRows = rowList<ApplicationRow, Application>({
  from: 'archivist.application a',
  columns: COLUMNS,
  idColumn: 'a.application_id',
  idOf: ({ applicationId }) => applicationId,
  entryOf: applicationOf,
});

/** Validity of the secrets of the named applications of the tenancy, as far as the transaction may read them. */
export async function findValidities(
  tx: Tx,
  tenantId: string,
  applicationIds: readonly string[],
): Promise<{ applicationId: string; validFrom: Date; validUntil: Date }[]> {
  return tx.query(
    `SELECT application_id AS "applicationId", valid_from AS "validFrom", valid_until AS "validUntil"
       FROM archivist.application_credential
      WHERE tenant_id = $1 AND application_id = ANY ($2::uuid[]) ORDER BY credential_id`,
    [tenantId, applicationIds],
  );
}

/** Changes the given fields and returns the application as it is afterwards. */
export async function updateApplication(
  tx: Tx,
  { tenantId, applicationId }: ApplicationAddress,
  change: {
    readonly displayName: string | undefined;
    readonly customClaims: Readonly<Record<string, string>> | undefined;
    readonly roles: readonly string[] | undefined;
  },
): Promise<Application | undefined> {
  const claims = change.customClaims && JSON.stringify(change.customClaims);
  const [row] = await tx.query<ApplicationRow>(
    `UPDATE archivist.application a SET display_name = coalesce($3, a.display_name),
        custom_claims = coalesce($4::text::jsonb, a.custom_claims), roles = coalesce($5::text[], a.roles)
      WHERE a.tenant_id = $1 AND a.application_id = $2 RETURNING ${COLUMNS}`,
    [tenantId, applicationId, change.displayName ?? null, claims ?? null, change.roles ?? null],
  );
  return row && applicationOf(row);
}

/** The application's roles, locked against changes until the transaction ends. */
export async function lockApplicationRoles(
  tx: Tx,
  { tenantId, applicationId }: ApplicationAddress,
): Promise<readonly string[] | undefined> {
  const [row] = await tx.query<{ roles: string[] }>(
    'SELECT roles FROM archivist.application WHERE tenant_id = $1 AND application_id = $2 FOR SHARE',
    [tenantId, applicationId],
  );
  return row?.roles;
}

/** Deletes all secrets of an application. */
export async function deleteCredentials(tx: Tx, { tenantId, applicationId }: ApplicationAddress): Promise<void> {
  await tx.execute('DELETE FROM archivist.application_credential WHERE tenant_id = $1 AND application_id = $2', [
    tenantId,
    applicationId,
  ]);
}

/** Deletes an application with its secrets and returns what it was. */
export async function deleteApplicationRow(
  tx: Tx,
  { tenantId, applicationId }: ApplicationAddress,
): Promise<Application | undefined> {
  const [row] = await tx.query<ApplicationRow>(
    `DELETE FROM archivist.application a WHERE a.tenant_id = $1 AND a.application_id = $2 RETURNING ${COLUMNS}`,
    [tenantId, applicationId],
  );
  return row && applicationOf(row);
}

function applicationOf(row: ApplicationRow): Application {
  return {
    tenantId: row.tenant_id,
    applicationId: row.application_id,
    displayName: row.display_name,
    customClaims: row.custom_claims,
    roles: row.roles,
    createdAt: row.created_at,
  };
}
