import { toBase64Url, utf8 } from '../../core/bytes.js';
import { type PublicJwk, publicJwk } from '../../core/cose/public-key.js';
import type { Signer } from '../../core/cose/signature.js';
import { type ChainKey, chainKey } from './chain-key.js';
import { evidenceSigner } from './evidence-signer.js';
import { fits } from './key-fit.js';
import { DEPLOYMENT_ROLES, type KeyRole, PEPPER_ROLE } from './key-role.js';
import type { KeyStore, PrivateKey } from './key-store.js';
import type { Keyring, PublishedKey } from './keyring.js';
import { secretFingerprint } from './secret-files.js';
import type { SigningKeyRow } from './signing-key-store.js';

const EVIDENCE_ROLES = ['issuer', 'statement_receipt', 'seal', 'note'] as const;

function published(row: SigningKeyRow & { readonly role: KeyRole }): PublishedKey {
  return {
    keyId: row.keyId,
    role: row.role,
    algorithm: row.algorithm,
    jwk: row.publicJwk as unknown as PublicJwk,
    state: row.state,
    validFrom: row.validFrom,
    validUntil: row.validUntil ?? undefined,
  };
}

function counts({ state, role, keyId }: SigningKeyRow, heldTokens: ReadonlySet<string>): boolean {
  return state !== 'revoked' && (role !== 'token' || heldTokens.has(keyId));
}

function isOf(row: SigningKeyRow, roles: readonly KeyRole[]): row is SigningKeyRow & { readonly role: KeyRole } {
  return roles.some((role) => role === row.role);
}

function requireActive<R extends SigningKeyRow['role']>(
  rows: readonly SigningKeyRow[],
  role: R,
): SigningKeyRow & { readonly role: R } {
  const row = rows.find((candidate) => candidate.role === role && candidate.state === 'active');
  if (!row) throw new Error(`there is no active key for the role ${role}`);
  return { ...row, role };
}

/** The keys at one moment. */
interface Keys {
  readonly rows: readonly SigningKeyRow[];
  readonly active: ReadonlyMap<KeyRole, ActiveKey>;
  readonly signers: ReadonlyMap<KeyRole, Signer>;
  /** Ids of token keys whose private half is here: tokens of other keys are refused. */
  readonly heldTokens: ReadonlySet<string>;
  /** Signers of retired note keys, the newest first. */
  readonly formerNotes: ReadonlyMap<string, Signer>;
  readonly chain: ChainKey;
}

/** How many retired note keys also sign. */
const FORMER_NOTES = 2;

interface ActiveKey {
  readonly keyId: string;
  readonly publicJwk: Record<string, string>;
  readonly key: PrivateKey;
}

/** A keyring of a running service, whose keys may be rotated by another process. */
export interface OpenKeyring extends Keyring {
  /**
   * Adopts the keys that the database names now: active ones sign from here on, others are published with their state.
   * @throws {Error} naming the key whose private half is missing; the keyring is then unchanged
   */
  adopt(rows: readonly SigningKeyRow[]): Promise<void>;
}

/**
 * Opens the private halves of the deployment's active keys; each must sign once. A service that can publish but not
 * sign must not start.
 * @throws {Error} naming the key whose private half is missing or belongs to another key, or if the pepper is not the
 * deployment's
 */
export async function openKeyring(
  rows: readonly SigningKeyRow[],
  store: KeyStore,
  secrets: { readonly pepper: Uint8Array; readonly pageTokenKey: Uint8Array },
): Promise<OpenKeyring> {
  if (requireActive(rows, PEPPER_ROLE).keyId !== secretFingerprint(secrets.pepper))
    throw new Error('KEYS_DIR has another token-pepper than this deployment: restore it, or no client secret is known');
  let keys = await loadKeys(rows, store);
  return {
    ...secrets,
    get chain() {
      return keys.chain;
    },
    signer: (role) => keys.signers.get(role)!,
    noteSigners: () => [keys.signers.get('note')!, ...keys.formerNotes.values()],
    publicKeys: (roles) =>
      keys.rows
        .filter((row) => isOf(row, roles))
        .filter((row) => counts(row, keys.heldTokens))
        .map(published),
    everyKey: (roles) => keys.rows.filter((row) => isOf(row, roles)).map(published),
    signToken: (claims, { typ }) => signCompact(keys.active.get('token')!, { alg: 'RS256', typ }, claims),
    async adopt(next) {
      keys = await loadKeys(next, store, keys);
    },
  };
}

/** A JWS in its compact form (RFC 7515), signed in the key's own store. */
async function signCompact({ keyId, key }: ActiveKey, header: object, claims: object): Promise<string> {
  const part = (value: object) => toBase64Url(utf8(JSON.stringify(value)));
  const input = `${part({ ...header, kid: keyId })}.${part(claims)}`;
  return `${input}.${toBase64Url(await key.sign(utf8(input)))}`;
}

async function loadKeys(rows: readonly SigningKeyRow[], store: KeyStore, before?: Keys): Promise<Keys> {
  const active = new Map<KeyRole, ActiveKey>();
  for (const role of DEPLOYMENT_ROLES) {
    const row = requireActive(rows, role);
    const held = before?.active.get(role);
    active.set(role, held?.keyId === row.keyId ? held : await openActive(store, row));
  }
  const signers = EVIDENCE_ROLES.map((role): [KeyRole, Signer] => {
    const { keyId, publicJwk: jwk, key } = active.get(role)!;
    const held = before?.active.get(role)?.keyId === keyId ? before.signers.get(role) : undefined;
    return [role, held ?? evidenceSigner(publicJwk(jwk), key)];
  });
  const chain = active.get('chain')!;
  const heldChain = before?.active.get('chain')?.keyId === chain.keyId ? before.chain : undefined;
  const formerNotes = await openFormerNotes(rows, store, before?.formerNotes);
  return {
    rows,
    active,
    signers: new Map(signers),
    heldTokens: await openTokens(rows, store, active.get('token')!.keyId),
    formerNotes,
    chain: heldChain ?? chainKey(chain.publicJwk, chain.key),
  };
}

/**
 * An operator ends the use of a token key by removing its private half; a key that an attacker wrote into the database
 * never had one.
 */
async function openTokens(rows: readonly SigningKeyRow[], store: KeyStore, active: string): Promise<Set<string>> {
  const held = new Set([active]);
  for (const row of rows) {
    if (row.role !== 'token' || row.state === 'active' || row.state === 'revoked') continue;
    const key = await store.open({ ...row, role: 'token' }).catch(() => undefined);
    if (key && (await fits(row.publicJwk, key))) held.add(row.keyId);
  }
  return held;
}

/** A retired key whose private half was removed, to end its use, no longer signs; nothing else depends on it. */
async function openFormerNotes(
  rows: readonly SigningKeyRow[],
  store: KeyStore,
  before: ReadonlyMap<string, Signer> = new Map(),
): Promise<ReadonlyMap<string, Signer>> {
  const signers = new Map<string, Signer>();
  const retired = rows.filter(({ role, state }) => role === 'note' && state === 'retired');
  for (const row of retired.slice(0, FORMER_NOTES)) {
    const jwk = publicJwk(row.publicJwk);
    const key = before.has(row.keyId) ? undefined : await store.open({ ...row, role: 'note' }).catch(() => undefined);
    const signer =
      before.get(row.keyId) ?? (key && (await fits(row.publicJwk, key)) ? evidenceSigner(jwk, key) : undefined);
    if (signer) signers.set(row.keyId, signer);
  }
  return signers;
}

async function openActive(store: KeyStore, row: SigningKeyRow & { readonly role: KeyRole }): Promise<ActiveKey> {
  const { keyId, publicJwk: jwk } = row;
  const key = await store.open(row);
  if (!key) throw new Error(`The private half of the active key ${keyId} is missing: ${store.advice(keyId)}.`);
  if (!(await fits(jwk, key)))
    throw new Error(`The private half of the active key ${keyId} is another key's: ${store.advice(keyId)}.`);
  return { keyId, publicJwk: jwk, key };
}
