import { recordSecurityEvent, type SecurityDeps } from '../../iam/security/record-security-event.js';
import { OPERATOR } from '../../iam/security/security-event.js';
import { listOrganisationIds } from '../../iam/tenancies/tenancy-store.js';
import { DEPLOYMENT_ROLES, type KeyRole } from '../../platform/keys/key-role.js';
import type { KeyStore, PrivateKey } from '../../platform/keys/key-store.js';
import { rotateKey } from '../../platform/keys/rotate-key.js';
import { listSigningKeys, type SigningKeyRow } from '../../platform/keys/signing-key-store.js';
import type { Database, Tx } from '../../platform/postgres/database.js';

export interface KeyOperatorDeps extends SecurityDeps {
  readonly database: Database;
  readonly keys: KeyStore;
  readonly deploymentTenancy: string;
  /** Lets this process go over to a new key at once; others follow within a minute. */
  readonly refreshKeys: () => Promise<void>;
}

/** Roles whose keys an operator may rotate. */
export const ROTATABLE_ROLES = DEPLOYMENT_ROLES;

/** A key as the operator sees it. */
export interface ShownKey {
  readonly key_id: string;
  readonly role: string;
  readonly algorithm: string;
  readonly state: SigningKeyRow['state'];
  /** Where it lies, empty when this process cannot use it. */
  readonly private_half: PrivateKey['place'] | '';
  readonly valid_from: string;
  readonly valid_until: string;
}

async function shown(keys: KeyStore, row: RotatableRow): Promise<ShownKey> {
  const key = await keys.open(row).catch(() => undefined);
  return {
    key_id: row.keyId,
    role: row.role,
    algorithm: row.algorithm,
    state: row.state,
    private_half: key?.place ?? '',
    valid_from: row.validFrom.toISOString(),
    valid_until: row.validUntil?.toISOString() ?? '',
  };
}

type RotatableRow = SigningKeyRow & { readonly role: (typeof ROTATABLE_ROLES)[number] };

function isRotatable(row: SigningKeyRow): row is RotatableRow {
  return ROTATABLE_ROLES.some((each) => each === row.role);
}

/** The deployment's keys, retired ones too, without anything secret. */
export async function listKeys({ database, keys, deploymentTenancy }: KeyOperatorDeps): Promise<ShownKey[]> {
  const rows = await database.inTransaction('system', (tx) => listSigningKeys(tx, deploymentTenancy));
  return Promise.all(rows.filter(isRotatable).map((row) => shown(keys, row)));
}

/**
 * Gives a role a new key and retires the one before, which stays published with its interval: what it signed verifies for
 * ever. Resolves with both. The act is logged, and told to every organisation in its security audit, with key ids and
 * nothing else.
 */
export async function rotateDeploymentKey(
  deps: KeyOperatorDeps,
  role: (typeof DEPLOYMENT_ROLES)[number],
): Promise<{ active: ShownKey; retired: ShownKey }> {
  const { database, clock, keys, deploymentTenancy, logger } = deps;
  const answer = await database.inTransaction('system', async (tx) => {
    await rotateKey(tx, keys, deploymentTenancy, role, new Date(clock.now()));
    const rows = await listSigningKeys(tx, deploymentTenancy);
    const active = newestOf(rows, role, 'active');
    const retired = newestOf(rows, role, 'retired');
    await tellOrganisations(tx, deps, { role, active_key_id: active.keyId, retired_key_id: retired.keyId });
    return { active: await shown(keys, active), retired: await shown(keys, retired) };
  });
  await deps.refreshKeys();
  logger.warn({ role, active: answer.active.key_id, retired: answer.retired.key_id }, 'a key was rotated');
  return answer;
}

/** The deployment's keys vouch for every tenancy's evidence: each has the entry in its own log, where its Owners read it. */
async function tellOrganisations(
  tx: Tx,
  deps: KeyOperatorDeps,
  details: Readonly<Record<'role' | 'active_key_id' | 'retired_key_id', string>>,
): Promise<void> {
  const act = { actor: OPERATOR, action: 'keys.rotate', resource: `keys/${details.role}`, details } as const;
  for (const tenantId of await listOrganisationIds(tx)) await recordSecurityEvent(tx, deps, { ...act, tenantId });
}

function newestOf(rows: readonly SigningKeyRow[], role: KeyRole, state: SigningKeyRow['state']): RotatableRow {
  const found = rows.filter(isRotatable).find((row) => row.role === role && row.state === state);
  if (!found) throw new TypeError(`a rotated role has no ${state} key`);
  return found;
}
