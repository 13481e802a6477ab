import { toBase64Url } from '../core/bytes.js';
import { permits } from '../iam/access/permits.js';
import { recordSecurityEvent } from '../iam/security/record-security-event.js';
import { ApiError } from '../platform/errors.js';
import type { Principal } from '../platform/http/principal.js';
import type { Tx } from '../platform/postgres/database.js';
import type { ScittDeps } from './register-statement.js';
import type { RegistrationSettings } from './registration-policy.js';
import { type CreateTrustAnchorBody, readTrustAnchor, type TrustAnchor } from './trust-anchor.js';
import {
  countTrustAnchors,
  deleteTrustAnchorRow,
  findTrustAnchor,
  insertTrustAnchor,
  listTrustAnchors,
  setSettings,
} from './trust-anchor-store.js';

/** Each registration looks through the authorities of its tenancy. */
const MAX_ANCHORS = 1_000;

/** Makes a tenancy trust a key or an authority. @throws {ApiError} forbidden for who is no Owner, conflict, quota_reached */
export function createTrustAnchor(
  deps: ScittDeps,
  principal: Principal,
  body: CreateTrustAnchorBody,
): Promise<TrustAnchor> {
  requireOwner(principal);
  const { tenantId } = principal;
  const createdAt = new Date(deps.clock.now());
  const anchor: TrustAnchor = { ...readTrustAnchor(body), tenantId, anchorId: deps.ids.uuid(), createdAt };
  if (deps.reservedIssuers.includes(anchor.issuer))
    throw new ApiError('bad_request', 'issuer: this is the service itself');
  return inTenancy(deps, principal, async (tx) => {
    if ((await countTrustAnchors(tx, tenantId)) >= MAX_ANCHORS)
      throw new ApiError('quota_reached', `A tenancy has at most ${MAX_ANCHORS} trust anchors.`);
    if (!(await insertTrustAnchor(tx, anchor)))
      throw new ApiError('conflict', 'This tenancy trusts this key of this issuer, or this authority, already.');
    await record(deps, tx, principal, 'trust_anchor.create', anchor.anchorId, {
      kind: anchor.kind,
      issuer: anchor.issuer,
      thumbprint: toBase64Url(anchor.thumbprint),
    });
    return anchor;
  });
}

/** Ends a trust; what was registered under it stays. @throws {ApiError} forbidden for who is no Owner, not_found */
export function deleteTrustAnchor(deps: ScittDeps, principal: Principal, anchorId: string): Promise<void> {
  requireOwner(principal);
  return inTenancy(deps, principal, async (tx) => {
    if (!(await deleteTrustAnchorRow(tx, principal.tenantId, anchorId))) throw noSuchAnchor();
    await record(deps, tx, principal, 'trust_anchor.delete', anchorId, {});
  });
}

/** @throws {ApiError} forbidden for who is no Owner */
export function readTrustAnchors(deps: ScittDeps, principal: Principal): Promise<TrustAnchor[]> {
  requireOwner(principal);
  return inTenancy(deps, principal, (tx) => listTrustAnchors(tx, principal.tenantId));
}

/** @throws {ApiError} forbidden for who is no Owner, not_found */
export function readTrustAnchorById(deps: ScittDeps, principal: Principal, anchorId: string): Promise<TrustAnchor> {
  requireOwner(principal);
  return inTenancy(deps, principal, async (tx) => {
    const anchor = await findTrustAnchor(tx, principal.tenantId, anchorId);
    if (!anchor) throw noSuchAnchor();
    return anchor;
  });
}

/** Changes what an Owner may decide of the registration policy. @throws {ApiError} forbidden for who is no Owner */
export function changeSettings(deps: ScittDeps, principal: Principal, settings: RegistrationSettings): Promise<void> {
  requireOwner(principal);
  return inTenancy(deps, principal, async (tx) => {
    await setSettings(tx, principal.tenantId, settings);
    const details = { self_asserted: String(settings.selfAsserted) };
    await record(deps, tx, principal, 'registration_policy.update', '', details);
  });
}

function requireOwner(principal: Principal): void {
  if (permits(principal, 'manage', { kind: 'tenancy', tenantId: principal.tenantId })) return;
  throw new ApiError('forbidden', 'Only Owners may see and change whom the tenancy trusts.');
}

function inTenancy<Result>(
  deps: ScittDeps,
  { tenantId }: Principal,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, work);
}

function record(
  deps: ScittDeps,
  tx: Tx,
  principal: Principal,
  action: `${string}.${string}`,
  anchorId: string,
  details: Readonly<Record<string, string>>,
): Promise<void> {
  const resource = anchorId === '' ? 'registration_policy' : `trust_anchors/${anchorId}`;
  return recordSecurityEvent(tx, deps, { tenantId: principal.tenantId, actor: principal, action, resource, details });
}

function noSuchAnchor(): ApiError {
  return new ApiError('not_found', 'There is no such trust anchor.');
}
