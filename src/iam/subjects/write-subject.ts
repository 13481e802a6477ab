import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { type AdministerDeps, administer } from '../security/administer.js';
import { answerOf } from './read-subjects.js';
import {
  type ChangeSubjectBody,
  type CreateSubjectBody,
  noSuchSubject,
  readSubjectKeys,
  readSubjectString,
  SELF,
  type Subject,
  subjectIdentity,
} from './subject.js';
import { deleteSubjectRow, insertSubject, lockSubject, updateSubject } from './subject-store.js';

/**
 * Imports another organisation, by its keys or its string. @throws {ApiError} forbidden, bad_request for an invalid key
 */
export function createSubject(
  deps: AdministerDeps,
  principal: Principal,
  body: CreateSubjectBody,
): Promise<Record<string, unknown>> {
  return administer(deps, principal, { action: 'subject.create', resource: 'subjects' }, async (tx) => {
    const keys = body.subject_string
      ? readSubjectString(body.subject_string)
      : readSubjectKeys(body.wallet_pub_key ?? [], body.tessera_pub_key ?? []);
    const subject: Subject = {
      tenantId: principal.tenantId,
      subjectId: deps.ids.uuid(),
      displayName: body.display_name,
      ...keys,
      createdAt: new Date(deps.clock.now()),
    };
    await insertSubject(tx, subject);
    const resource = subjectIdentity(subject.subjectId);
    return { result: await answerOf(tx, subject), resource, details: detailsOf(subject) };
  });
}

/**
 * Changes what the body names. @throws {ApiError} forbidden if the caller is not an Owner, and for Self; not_found,
 * bad_request
 */
export function changeSubject(
  deps: AdministerDeps,
  principal: Principal,
  subjectId: string,
  body: ChangeSubjectBody,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  return administer(deps, principal, { action: 'subject.change', resource: subjectIdentity(subjectId) }, async (tx) => {
    refuseSelf(subjectId);
    const found = await lockSubject(tx, { tenantId, subjectId });
    if (!found) throw noSuchSubject();
    const changed = {
      ...found,
      displayName: body.display_name ?? found.displayName,
      ...readSubjectKeys(body.wallet_pub_key ?? found.walletPubKeys, body.tessera_pub_key ?? found.tesseraPubKeys),
    };
    await updateSubject(tx, changed, changed);
    return { result: await answerOf(tx, changed), details: detailsOf(changed) };
  });
}

/**
 * Deletes a subject and so stops sharing with it. @throws {ApiError} forbidden if the caller is not an Owner, and for
 * Self; not_found
 */
export function deleteSubject(deps: AdministerDeps, principal: Principal, subjectId: string): Promise<void> {
  const { tenantId } = principal;
  return administer(deps, principal, { action: 'subject.delete', resource: subjectIdentity(subjectId) }, async (tx) => {
    refuseSelf(subjectId);
    const found = await lockSubject(tx, { tenantId, subjectId });
    if (!found) throw noSuchSubject();
    await deleteSubjectRow(tx, found);
    return { result: undefined, details: detailsOf(found) };
  });
}

/** Auditors need to know which outside organisation was admitted, and by which wallet. */
function detailsOf({ displayName, walletAddresses }: Subject) {
  return { display_name: displayName, wallet_address: walletAddresses };
}

function refuseSelf(subjectId: string): void {
  if (subjectId === SELF)
    throw new ApiError('forbidden', 'Self holds the keys of the tenancy and cannot be changed or deleted.');
}
