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

/** The application with this id in any tenancy that the transaction may read and that is not disabled, with its secrets. */
export async function findApplicationForToken(
  tx: Tx,
  applicationId: string,
): Promise<{ application: Application; credentials: Credential[] } | undefined> {
  const rows = await tx.query<
    ApplicationRow & {
      credential_id: string | null;
      secret_hmac: Uint8Array;
      valid_from: Date;
      valid_until: Date;
    }
  >(
    `SELECT a.tenant_id, a.application_id, a.display_name, a.custom_claims, a.roles, a.created_at,
            c.credential_id, c.secret_hmac, c.valid_from, c.valid_until
       FROM archivist.application a
       LEFT JOIN archivist.application_credential c USING (tenant_id, application_id)
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
  return { application: applicationOf(first), credentials };
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
