import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { changeRow, deleteRow, deleteRows, findRow } from '../../platform/postgres/rows-by-key.js';
import type { Application, Credential } from './application.js';

/** Which application of which tenancy. */
type ApplicationAddress = Pick<Application, 'tenantId' | 'applicationId'>;

const APPLICATION = table('application').columns<Application>({
  tenantId: 'tenant_id',
  applicationId: 'application_id',
  displayName: 'display_name',
  customClaims: 'custom_claims',
  roles: 'roles',
  createdAt: 'created_at',
});
const KEY = ['tenantId', 'applicationId'] as const;
/** Conditions of a list refer to the table as `a`. */
const COLUMNS = selected(APPLICATION, 'a');

const CREDENTIAL = table('application_credential').columns<ApplicationAddress & Credential>({
  tenantId: 'tenant_id',
  applicationId: 'application_id',
  credentialId: 'credential_id',
  secretHmac: 'secret_hmac',
  validFrom: 'valid_from',
  validUntil: 'valid_until',
});

const SECRET = ['credentialId', 'secretHmac', 'validFrom', 'validUntil'] as const;

/** Adds an application without any secret. */
export async function insertApplication(tx: Tx, application: Application): Promise<void> {
  await insertRows(tx, APPLICATION, [application]);
}

/** Adds a secret to an application. */
export async function insertCredential(
  tx: Tx,
  { tenantId, applicationId }: ApplicationAddress,
  credential: Credential,
): Promise<void> {
  await insertRows(tx, CREDENTIAL, [{ ...credential, tenantId, applicationId }]);
}

/** The application with this id in any enabled tenancy that the transaction may read, with its secrets and epoch. */
export async function findApplicationForToken(
  tx: Tx,
  applicationId: string,
): Promise<{ application: Application; credentials: Credential[]; epoch: number } | undefined> {
  const rows = await tx.query<Application & Credential & { readonly epoch: bigint | null }>(
    `SELECT ${COLUMNS}, ${selected(CREDENTIAL, 'c', SECRET)}, e.epoch
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
    // Null where an application has no secret.
    .filter(({ credentialId }) => credentialId)
    .map(({ credentialId, secretHmac, validFrom, validUntil }) => ({
      credentialId,
      secretHmac,
      validFrom,
      validUntil,
    }));
  const { tenantId, displayName, customClaims, roles, createdAt } = first;
  const application = { tenantId, applicationId, displayName, customClaims, roles, createdAt };
  return { application, credentials, epoch: Number(first.epoch ?? 0) };
}

/**
 * Until the transaction ends, nobody else can delete the application if it is `kept`, nor change it if it is `locked`.
 */
export function findApplication(
  tx: Tx,
  address: ApplicationAddress,
  until: 'read' | 'kept' | 'locked' = 'read',
): Promise<Application | undefined> {
  const rest = { read: '', kept: 'FOR KEY SHARE', locked: 'FOR NO KEY UPDATE' };
  return findRow(tx, APPLICATION, KEY, address, rest[until]);
}

/** Conditions refer to a row as `a`. */
export const applicationRows = rowList<Application>({
  from: 'archivist.application a',
  columns: COLUMNS,
  large: ['customClaims'],
  idColumn: 'a.application_id',
  idOf: ({ applicationId }) => applicationId,
});

/** Validity of the secrets of the named applications of the tenancy, as far as the transaction may read them. */
export async function findValidities(
  tx: Tx,
  tenantId: string,
  applicationIds: readonly string[],
): Promise<{ applicationId: string; validFrom: Date; validUntil: Date }[]> {
  return tx.query(
    `SELECT ${selected(CREDENTIAL, 'c', ['applicationId', 'validFrom', 'validUntil'])}
       FROM archivist.application_credential c
      WHERE c.tenant_id = $1 AND c.application_id = ANY ($2::uuid[]) ORDER BY c.credential_id`,
    [tenantId, applicationIds],
  );
}

/** Changes the given fields and returns the changed application. */
export function updateApplication(
  tx: Tx,
  address: ApplicationAddress,
  change: {
    readonly displayName: string | undefined;
    readonly customClaims: Readonly<Record<string, string>> | undefined;
    readonly roles: readonly string[] | undefined;
  },
): Promise<Application | undefined> {
  return changeRow(tx, APPLICATION, KEY, ['displayName', 'customClaims', 'roles'], { ...change, ...address });
}

/** Deletes all secrets of an application. */
export async function deleteCredentials(tx: Tx, address: ApplicationAddress): Promise<void> {
  await deleteRows(tx, CREDENTIAL, KEY, address);
}

/** Deletes an application with its secrets and returns the deleted application. */
export function deleteApplicationRow(tx: Tx, address: ApplicationAddress): Promise<Application | undefined> {
  return deleteRow(tx, APPLICATION, KEY, address);
}
