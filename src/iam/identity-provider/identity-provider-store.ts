import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { findRow, replacing } from '../../platform/postgres/rows-by-key.js';
import { type ClaimNames, type IdentityProvider, STANDARD_CLAIMS } from './identity-provider.js';

type StoredProvider = Omit<IdentityProvider, 'claimNames'> & { readonly claimNames: Partial<ClaimNames> };

const PROVIDER = table('identity_provider').columns<StoredProvider>({
  tenantId: 'tenant_id',
  enabled: 'enabled',
  issuer: 'issuer',
  clientId: 'client_id',
  clientSecretSealed: 'client_secret_sealed',
  audience: 'audience',
  claimNames: 'claim_names',
});
const COLUMNS = selected(PROVIDER, 'p');

export async function findProvider(tx: Tx, tenantId: string): Promise<IdentityProvider | undefined> {
  const row = await findRow(tx, PROVIDER, ['tenantId'], { tenantId });
  return row && providerOf(row);
}

/** Creates or replaces the settings. */
export async function saveProvider(tx: Tx, provider: IdentityProvider): Promise<void> {
  await insertRows(
    tx,
    PROVIDER,
    [provider],
    replacing(
      PROVIDER,
      ['tenantId'],
      ['enabled', 'issuer', 'clientId', 'clientSecretSealed', 'audience', 'claimNames'],
    ),
  );
}

/** Enabled providers of an issuer, in enabled tenancies that the transaction may read. */
export async function findProvidersOfIssuer(tx: Tx, issuer: string): Promise<IdentityProvider[]> {
  const rows = await tx.query<StoredProvider>(
    `SELECT ${COLUMNS} FROM archivist.identity_provider p JOIN archivist.tenancy t ON t.tenant_id = p.tenant_id
      WHERE p.issuer = $1 AND p.enabled AND t.disabled_at IS NULL`,
    [issuer],
  );
  return rows.map(providerOf);
}

/**
 * The enabled providers of the tenancy with this UUID or this verified domain, or of all tenancies; at most two, and
 * none of a disabled tenancy.
 */
export async function findProvidersToSignIn(tx: Tx, tenancy: string | undefined): Promise<IdentityProvider[]> {
  const rows = await tx.query<StoredProvider>(
    `SELECT ${COLUMNS} FROM archivist.identity_provider p JOIN archivist.tenancy t ON t.tenant_id = p.tenant_id
      WHERE p.enabled AND t.disabled_at IS NULL
        AND ($1::text IS NULL OR t.tenant_id::text = $1 OR (t.verified_domain = $1 AND t.verified_domain <> ''))
      ORDER BY t.tenant_id LIMIT 2`,
    [tenancy?.toLowerCase() ?? null],
  );
  return rows.map(providerOf);
}

/** Whether people of any tenancy sign in at another issuer than this one. */
export async function hasOtherIssuer(tx: Tx, issuer: string): Promise<boolean> {
  const rows = await tx.query<{ tenantId: string }>(
    `SELECT p.tenant_id AS "tenantId" FROM archivist.identity_provider p
      JOIN archivist.tenancy t ON t.tenant_id = p.tenant_id
      WHERE p.enabled AND t.disabled_at IS NULL AND p.issuer <> $1 LIMIT 1`,
    [issuer],
  );
  return rows.length > 0;
}

function providerOf(stored: StoredProvider): IdentityProvider {
  return { ...stored, claimNames: { ...STANDARD_CLAIMS, ...stored.claimNames } };
}
