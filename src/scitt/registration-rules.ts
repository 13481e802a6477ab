import { LRUCache } from 'lru-cache';
import type { Clock } from '../platform/clock.js';
import type { Database, Tx } from '../platform/postgres/database.js';
import {
  DEFAULT_SETTINGS,
  type RegistrationPolicy,
  type RegistrationSettings,
  registrationPolicy,
} from './registration-policy.js';
import type { TrustAnchor } from './trust-anchor.js';
import { anchorsOfIssuer, findSettings } from './trust-anchor-store.js';

/**
 * How long rules are used after the database was read: less than the second within which another process's revocation
 * takes effect.
 */
const USED_MS = 500;
const REMEMBERED = 10_000;

/** What decides about the statements of one issuer in one tenancy. */
interface RegistrationRules {
  readonly policy: RegistrationPolicy;
  readonly selfAsserted: boolean;
  readonly issuerKeys: readonly TrustAnchor[];
  /** Only for statements with a certificate chain; otherwise empty. */
  readonly authorities: readonly TrustAnchor[];
}

/** The rules of tenancies, read from the database once for all statements of half a second. */
export interface RulesCache {
  rulesFor(tenantId: string, issuer: string, withChain: boolean): Promise<RegistrationRules>;
  /** Forgets a tenancy's rules: its next statement is judged by what the database says then. */
  drop(tenantId: string): void;
}

interface Remembered {
  readonly readAtMs: number;
  readonly rules: Promise<RegistrationRules>;
}

/** The current policy of a tenancy. */
export async function currentPolicy(
  tx: Tx,
  tenantId: string,
  reserved: readonly string[],
): Promise<{ settings: RegistrationSettings; policy: RegistrationPolicy }> {
  const settings = (await findSettings(tx, tenantId)) ?? DEFAULT_SETTINGS;
  return { settings, policy: registrationPolicy(settings, reserved) };
}

export function createRulesCache(deps: {
  readonly database: Database;
  readonly clock: Clock;
  readonly reservedIssuers: readonly string[];
}): RulesCache {
  const remembered = new LRUCache<string, Remembered>({ max: REMEMBERED });
  /** Anchors never change, so one that was read before stays the same object: its key is imported once. */
  const anchors = new LRUCache<string, TrustAnchor>({ max: REMEMBERED });

  const same = (read: readonly TrustAnchor[]): TrustAnchor[] =>
    read.map((anchor) => {
      const key = `${anchor.tenantId}/${anchor.anchorId}`;
      const known = anchors.get(key);
      if (known?.material === anchor.material && known.issuer === anchor.issuer) return known;
      anchors.set(key, anchor);
      return anchor;
    });

  function read(tenantId: string, issuer: string, withChain: boolean): Promise<RegistrationRules> {
    return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
      const [{ settings, policy }, issuerKeys, authorities] = await Promise.all([
        currentPolicy(tx, tenantId, deps.reservedIssuers),
        anchorsOfIssuer(tx, tenantId, issuer),
        withChain ? anchorsOfIssuer(tx, tenantId, '') : [],
      ]);
      return {
        policy,
        selfAsserted: settings.selfAsserted,
        issuerKeys: same(issuerKeys),
        authorities: same(authorities),
      };
    });
  }

  return {
    rulesFor(tenantId, issuer, withChain) {
      const key = `${tenantId} ${withChain} ${issuer}`;
      const now = deps.clock.now();
      const known = remembered.get(key);
      if (known && Math.abs(now - known.readAtMs) < USED_MS) return known.rules;
      const rules = read(tenantId, issuer, withChain);
      remembered.set(key, { readAtMs: now, rules });
      rules.catch(() => remembered.get(key)?.rules === rules && remembered.delete(key));
      return rules;
    },
    drop(tenantId) {
      for (const key of remembered.keys()) if (key.startsWith(`${tenantId} `)) remembered.delete(key);
    },
  };
}
