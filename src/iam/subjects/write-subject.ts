import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Tx } from '../../platform/postgres/database.js';
import { policiesNaming } from '../access/access-policy-store.js';
import { readersOf } from '../access/confirmed-share-store.js';
import { type Readers, sharedGrants } from '../access/past-grant.js';
import { lockShares, withdrawPastOfSubject } from '../access/past-grant-store.js';
import { keepUnlessWithdrawn, type PastShares, type PastSharesDeps, withdrawal } from '../access/past-shares.js';
import { type AdministerDeps, administer } from '../security/administer.js';
import { lockForCounting } from '../tenancies/quota-store.js';
import { answerOf } from './read-subjects.js';
import {
  type ChangeSubjectBody,
  type CreateSubjectBody,
  noSuchSubject,
  readChangedKeys,
  readSubjectKeys,
  readSubjectString,
  SELF,
  type Subject,
  subjectIdentity,
} from './subject.js';
import { countSubjects, deleteSubjectRow, insertSubject, lockSubject, updateSubject } from './subject-store.js';

/** Each read of an Owner asks for all names under which other tenancies know its own. */
const MAX_SUBJECTS = 1_000;

/**
 * Imports another organisation, by its keys or its string. @throws {ApiError} forbidden, bad_request for an invalid key
 * or one subject too many
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
    await lockForCounting(tx, subject.tenantId);
    if ((await countSubjects(tx, subject.tenantId)) >= MAX_SUBJECTS)
      throw new ApiError('bad_request', `A tenancy has at most ${MAX_SUBJECTS} subjects: delete one first.`);
    await insertSubject(tx, subject);
    const resource = subjectIdentity(subject.subjectId);
    return { result: await answerOf(tx, subject), resource, details: detailsOf(subject) };
  });
}

export type WriteSubjectDeps = AdministerDeps & PastSharesDeps;

/**
 * Changes what the body names. If an organisation is no longer known by this subject, what was shared with it stays
 * readable as it is now, unless `past` is withdrawn. @throws {ApiError} forbidden if the caller is not an Owner, and for Self; not_found,
 * bad_request
 */
export function changeSubject(
  deps: WriteSubjectDeps,
  principal: Principal,
  subjectId: string,
  body: ChangeSubjectBody,
  past: PastShares = 'keep',
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  return administer(deps, principal, { action: 'subject.change', resource: subjectIdentity(subjectId) }, async (tx) => {
    refuseSelf(subjectId);
    await lockShares(tx, [tenantId], 'alone');
    const found = await lockSubject(tx, { tenantId, subjectId });
    if (!found) throw noSuchSubject();
    const changed = {
      ...found,
      displayName: body.display_name ?? found.displayName,
      ...readChangedKeys(body),
    };
    const before = await readersOf(tx, tenantId);
    await updateSubject(tx, changed, changed);
    await endSharesWith(tx, deps, found, { before, after: await readersOf(tx, tenantId) }, past);
    return { result: await answerOf(tx, changed), details: { ...detailsOf(changed), ...withdrawal(past) } };
  });
}

/**
 * Deletes a subject and so stops sharing with it. What was shared stays readable as it is now, unless `past` is
 * withdrawn. @throws {ApiError} forbidden if the caller is not an Owner, and for
 * Self; not_found
 */
export function deleteSubject(
  deps: WriteSubjectDeps,
  principal: Principal,
  subjectId: string,
  past: PastShares = 'keep',
): Promise<void> {
  const { tenantId } = principal;
  return administer(deps, principal, { action: 'subject.delete', resource: subjectIdentity(subjectId) }, async (tx) => {
    refuseSelf(subjectId);
    await lockShares(tx, [tenantId], 'alone');
    const found = await lockSubject(tx, { tenantId, subjectId });
    if (!found) throw noSuchSubject();
    const before = await readersOf(tx, tenantId);
    await deleteSubjectRow(tx, found);
    await endSharesWith(tx, deps, found, { before, after: new Map() }, past);
    return { result: undefined, details: { ...detailsOf(found), ...withdrawal(past) } };
  });
}

/** Ends what policies granted by this subject to organisations that it no longer names. */
async function endSharesWith(
  tx: Tx,
  deps: PastSharesDeps,
  { tenantId, subjectId }: Subject,
  { before, after }: { readonly before: Readers; readonly after: Readers },
  past: PastShares,
): Promise<void> {
  const still = after.get(subjectId) ?? [];
  const lost = (before.get(subjectId) ?? []).filter((reader) => !still.includes(reader));
  if (past === 'withdraw') await withdrawPastOfSubject(tx, { tenantId, subjectId }, lost);
  const policies = await policiesNaming(tx, tenantId, [subjectIdentity(subjectId)]);
  const readers = new Map([[subjectId, lost]]);
  const ended = policies.flatMap((policy) => sharedGrants(policy, readers));
  await keepUnlessWithdrawn(tx, deps, ended, past);
}

/** Auditors need to know which outside organisation was admitted, and by which wallet. */
function detailsOf({ displayName, walletAddresses }: Subject) {
  return { display_name: displayName, wallet_address: walletAddresses };
}

function refuseSelf(subjectId: string): void {
  if (subjectId === SELF)
    throw new ApiError('forbidden', 'Self holds the keys of the tenancy and cannot be changed or deleted.');
}
