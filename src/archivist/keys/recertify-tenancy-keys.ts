import { namedKey } from '../../core/keys/manifest-key.js';
import type { CertifyTenancyKey } from '../../platform/keys/create-keys.js';
import { fits } from '../../platform/keys/key-fit.js';
import { TENANCY_ROLES } from '../../platform/keys/key-role.js';
import type { KeyStore } from '../../platform/keys/key-store.js';
import { listTenancyKeys, putCertificate, type TenancyKeyRow } from '../../platform/keys/signing-key-store.js';
import type { Tx } from '../../platform/postgres/database.js';

const PAGE = 500;
const BEGINNING = { tenantId: '00000000-0000-0000-0000-000000000000', keyId: '' };

/** Every key of a tenancy, page by page. */
export async function* tenancyKeys(tx: Tx): AsyncGenerator<TenancyKeyRow> {
  let after = BEGINNING;
  for (;;) {
    const rows: TenancyKeyRow[] = await listTenancyKeys(tx, TENANCY_ROLES, after, PAGE);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last;
  }
}

/** Certifies one row with the active issuer key. */
export async function certifyRow(tx: Tx, row: TenancyKeyRow, certify: CertifyTenancyKey): Promise<void> {
  const { tenantId, role, validFrom, publicJwk } = row;
  const key = { tenantId, role, validFromMs: validFrom.getTime(), ...namedKey(publicJwk) };
  await putCertificate(tx, row, await certify(key));
}

/**
 * Certifies the keys of tenancies again after an issuer key was stolen. The thief could have certified rows of its own,
 * so only keys whose private half is here are certified. The others are left without a valid certificate, and the audit
 * lists them.
 */
export async function recertifyTenancyKeys(
  tx: Tx,
  { keys, certify }: { readonly keys: KeyStore; readonly certify: CertifyTenancyKey },
): Promise<void> {
  for await (const row of tenancyKeys(tx)) {
    const role = row.role as (typeof TENANCY_ROLES)[number];
    const key = await keys.open({ ...row, role }).catch(() => undefined);
    if (key && (await fits(row.publicJwk, key))) await certifyRow(tx, row, certify);
  }
}
