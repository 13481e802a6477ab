import { namedKey } from '../../core/keys/manifest-key.js';
import type { CertifyTenancyKey } from '../../platform/keys/create-keys.js';
import { fits } from '../../platform/keys/key-fit.js';
import { TENANCY_ROLES } from '../../platform/keys/key-role.js';
import type { KeyStore } from '../../platform/keys/key-store.js';
import { listTenancyKeys, putCertificate, type TenancyKeyRow } from '../../platform/keys/signing-key-store.js';
import type { Logger } from '../../platform/logger.js';
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

/** So many keys are named in the log; their number is always there. */
const MOST_NAMED = 20;

/**
 * Certifies the keys of tenancies again after an issuer key was stolen. The thief could have certified rows of its own,
 * so only keys whose private half is here are certified. The others are left without a valid certificate: the log says how
 * many and which, and the audit lists them.
 */
export async function recertifyTenancyKeys(
  tx: Tx,
  { keys, certify, logger }: { readonly keys: KeyStore; readonly certify: CertifyTenancyKey; readonly logger: Logger },
): Promise<void> {
  const left: { readonly tenancy: string; readonly role: string; readonly key: string; readonly reason: string }[] = [];
  let count = 0;
  for await (const row of tenancyKeys(tx)) {
    const reason = await reasonNotToCertify(keys, row);
    if (reason === undefined) await certifyRow(tx, row, certify);
    else if (++count <= MOST_NAMED) left.push({ tenancy: row.tenantId, role: row.role, key: row.keyId, reason });
  }
  if (count > 0)
    logger.error(
      { count, keys: left },
      'keys of tenancies were not certified again, because their private halves cannot be used: restore them, and run an audit',
    );
}

/** @throws if a key that can be opened cannot sign: its module may answer again */
async function reasonNotToCertify(keys: KeyStore, row: TenancyKeyRow): Promise<string | undefined> {
  const opening = keys.open({ ...row, role: row.role as (typeof TENANCY_ROLES)[number] });
  const opened = await opening.then(
    (key) => ({ key }),
    (error: Error) => ({ why: `the private half cannot be opened: ${error.message}` }),
  );
  if ('why' in opened) return opened.why;
  if (!opened.key) return 'the private half is not here';
  return (await fits(row.publicJwk, opened.key)) ? undefined : 'the private half is of another key';
}
