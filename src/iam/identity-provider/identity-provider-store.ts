import type { Tx } from '../../platform/postgres/database.js';
import { type ClaimNames, type IdentityProvider, STANDARD_CLAIMS } from './identity-provider.js';

interface ProviderRow {
  tenant_id: string;
  enabled: boolean;
  issuer: string;
  client_id: string;
  client_secret_sealed: string;
  audience: string;
  claim_names: Partial<ClaimNames>;
}

const COLUMNS = `p.tenant_id, p.enabled, p.issuer, p.client_id, p.client_secret_sealed, p.audience, p.claim_names`;

export async function findProvider(tx: Tx, tenantId: string): Promise<IdentityProvider | undefined> {
  const [row] = await tx.query<ProviderRow>(
    `SELECT ${COLUMNS} FROM archivist.identity_provider p WHERE p.tenant_id = $1`,
    [tenantId],
  );
  return row && providerOf(row);
}

/** Creates or replaces the settings. */
export async function saveProvider(tx: Tx, provider: IdentityProvider): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.identity_provider (tenant_id, enabled, issuer, client_id, client_secret_sealed, audience,
       claim_names) VALUES ($1, $2, $3, $4, $5, $6, $7::text::jsonb)
     ON CONFLICT (tenant_id) DO UPDATE SET enabled = excluded.enabled, issuer = excluded.issuer,
       client_id = excluded.client_id, client_secret_sealed = excluded.client_secret_sealed,
       audience = excluded.audience, claim_names = excluded.claim_names`,
    [
      provider.tenantId,
      provider.enabled,
      provider.issuer,
      provider.clientId,
      provider.clientSecretSealed,
      provider.audience,
      JSON.stringify(provider.claimNames),
    ],
  );
}

/** Enabled providers of an issuer, in enabled tenancies that the transaction may read. */
export async function findProvidersOfIssuer(tx: Tx, issuer: string): Promise<IdentityProvider[]> {
  const rows = await tx.query<ProviderRow>(
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
  const rows = await tx.query<ProviderRow>(
    `SELECT ${COLUMNS} FROM archivist.identity_provider p JOIN archivist.tenancy t ON t.tenant_id = p.tenant_id
      WHERE p.enabled AND t.disabled_at IS NULL
        AND ($1::text IS NULL OR t.tenant_id::text = $1 OR (t.verified_domain = $1 AND t.verified_domain <> ''))
      ORDER BY t.tenant_id LIMIT 2`,
    [tenancy?.toLowerCase() ?? null],
  );
  return rows.map(providerOf);
}

function providerOf(row: ProviderRow): IdentityProvider {
  return {
    tenantId: row.tenant_id,
    enabled: row.enabled,
    issuer: row.issuer,
    clientId: row.client_id,
    clientSecretSealed: row.client_secret_sealed,
    audience: row.audience,
    claimNames: { ...STANDARD_CLAIMS, ...row.claim_names },
  };
}
