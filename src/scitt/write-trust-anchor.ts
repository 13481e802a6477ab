import { toBase64Url } from '../core/bytes.js';
import { permits } from '../iam/access/permits.js';
import { type Administered, administer } from '../iam/security/administer.js';
import { lockForCounting } from '../iam/tenancies/quota-store.js';
import { ApiError } from '../platform/errors.js';
import type { Principal } from '../platform/http/principal.js';
import { inPieces } from '../platform/in-pieces.js';
import type { Tx } from '../platform/postgres/database.js';
import { isSameName } from '../platform/x509/distinguished-name.js';
import { MOST_OF_ONE_NAME } from './certificate-chain.js';
import type { ScittDeps } from './register-statement.js';
import type { RegistrationSettings } from './registration-policy.js';
import { isReservedIssuer } from './reserved-issuer.js';
import {
  anchorCertificate,
  type CreateTrustAnchorBody,
  hasReadableCertificate,
  readTrustAnchor,
  type TrustAnchor,
} from './trust-anchor.js';
import {
  anchorsOfIssuer,
  countTrustAnchors,
  deleteTrustAnchorRow,
  findTrustAnchor,
  insertTrustAnchor,
  listTrustAnchors,
  setSettings,
} from './trust-anchor-store.js';

/** A limit, because each registration searches the authorities of its tenancy. */
const MAX_ANCHORS = 1_000;

/**
 * Makes a tenancy trust a key or an authority. @throws {ApiError} forbidden unless the caller is an Owner, conflict,
 * quota_reached
 */
export function createTrustAnchor(
  deps: ScittDeps,
  principal: Principal,
  body: CreateTrustAnchorBody,
): Promise<TrustAnchor> {
  const { tenantId } = principal;
  return changing(deps, principal, { action: 'trust_anchor.create', resource: 'trust_anchors' }, async (tx) => {
    const createdAt = new Date(deps.clock.now());
    const anchor: TrustAnchor = { ...readTrustAnchor(body), tenantId, anchorId: deps.ids.uuid(), createdAt };
    if (isReservedIssuer(anchor.issuer, deps.reservedIssuers))
      throw new ApiError('bad_request', 'issuer: this name is reserved for the service itself');
    await lockForCounting(tx, tenantId);
    if ((await countTrustAnchors(tx, tenantId)) >= MAX_ANCHORS)
      throw new ApiError('quota_reached', `A tenancy has at most ${MAX_ANCHORS} trust anchors.`);
    if (!(await insertTrustAnchor(tx, anchor)))
      throw new ApiError('conflict', 'This tenancy already trusts this key of this issuer, or this authority.');
    if (anchor.kind === 'certificate_authority') await requireFewOfName(tx, anchor);
    const { kind, issuer, thumbprint } = anchor;
    const details = { kind, issuer, thumbprint: toBase64Url(thumbprint) };
    return { result: anchor, resource: identityOf(anchor.anchorId), details };
  });
}

/** @throws {ApiError} quota_reached */
async function requireFewOfName(tx: Tx, anchor: TrustAnchor): Promise<void> {
  const { subject } = anchorCertificate(anchor);
  const known = await inPieces(await anchorsOfIssuer(tx, anchor.tenantId, ''), (each) =>
    hasReadableCertificate(each) ? [anchorCertificate(each)] : [],
  );
  if (known.flat().filter((other) => isSameName(other.subject, subject)).length <= MOST_OF_ONE_NAME) return;
  throw new ApiError(
    'quota_reached',
    `certificate: this tenancy trusts ${MOST_OF_ONE_NAME} authorities of this name. Remove one that no statement needs any more.`,
  );
}

/**
 * Removes a trust anchor; existing registrations stay. @throws {ApiError} forbidden unless the caller is an Owner,
 * not_found
 */
export function deleteTrustAnchor(deps: ScittDeps, principal: Principal, anchorId: string): Promise<void> {
  const act = { action: 'trust_anchor.delete', resource: identityOf(anchorId) } as const;
  return changing(deps, principal, act, async (tx) => {
    if (!(await deleteTrustAnchorRow(tx, principal.tenantId, anchorId))) throw noSuchAnchor();
    return { result: undefined };
  });
}

/** @throws {ApiError} forbidden unless the caller is an Owner */
export function readTrustAnchors(deps: ScittDeps, principal: Principal): Promise<TrustAnchor[]> {
  requireOwner(principal);
  return reading(deps, principal, (tx) => listTrustAnchors(tx, principal.tenantId));
}

/** @throws {ApiError} forbidden unless the caller is an Owner, not_found */
export function readTrustAnchorById(deps: ScittDeps, principal: Principal, anchorId: string): Promise<TrustAnchor> {
  requireOwner(principal);
  return reading(deps, principal, async (tx) => {
    const anchor = await findTrustAnchor(tx, principal.tenantId, anchorId);
    if (!anchor) throw noSuchAnchor();
    return anchor;
  });
}

/** Changes the registration policy's settings. @throws {ApiError} forbidden unless the caller is an Owner */
export function changeSettings(deps: ScittDeps, principal: Principal, settings: RegistrationSettings): Promise<void> {
  const act = { action: 'registration_policy.update', resource: 'registration_policy' } as const;
  return changing(deps, principal, act, async (tx) => {
    await setSettings(tx, principal.tenantId, settings);
    return { result: undefined, details: { self_asserted: String(settings.selfAsserted) } };
  });
}

/** The rules that this process remembers end with the commit; other processes read them again within a second. */
async function changing<Result>(
  deps: ScittDeps,
  principal: Principal,
  act: Parameters<typeof administer>[2],
  work: (tx: Tx) => Promise<Administered<Result>>,
): Promise<Result> {
  try {
    return await administer(deps, principal, act, work);
  } finally {
    deps.rules.drop(principal.tenantId);
  }
}

function requireOwner(principal: Principal): void {
  if (permits(principal, 'manage', { kind: 'tenancy', tenantId: principal.tenantId })) return;
  throw new ApiError('forbidden', 'Only Owners may read and change the trust anchors.');
}

function reading<Result>(deps: ScittDeps, { tenantId }: Principal, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return deps.database.inTransaction({ read: [tenantId], write: [] }, work);
}

const identityOf = (anchorId: string) => `trust_anchors/${anchorId}`;

function noSuchAnchor(): ApiError {
  return new ApiError('not_found', 'There is no such trust anchor.');
}
