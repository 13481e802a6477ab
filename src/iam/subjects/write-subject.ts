import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Ids } from '../../platform/ids.js';
import type { Logger } from '../../platform/logger.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import { requireOwnerNow } from '../access/require-owner-now.js';
import { recordSecurityEvent } from '../security/record-security-event.js';
import { requireManager } from '../tenancies/require-manager.js';
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

const WRITERS = 'Only Owners may import, change and remove subjects.';

export interface WriteSubjectDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

/** Imports another organisation, by its keys or its string. @throws {ApiError} forbidden, bad_request for what is no key */
export function createSubject(
  deps: WriteSubjectDeps,
  principal: Principal,
  body: CreateSubjectBody,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireManager(principal, WRITERS);
  const keys = body.subject_string
    ? readSubjectString(body.subject_string)
    : readSubjectKeys(body.wallet_pub_key ?? [], body.tessera_pub_key ?? []);
  const subject: Subject = {
    tenantId,
    subjectId: deps.ids.uuid(),
    displayName: body.display_name,
    ...keys,
    createdAt: new Date(deps.clock.now()),
  };
  return deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    await requireOwnerNow(tx, principal);
    await insertSubject(tx, subject);
    await record(tx, deps, principal, 'subject.create', subject);
    return answerOf(tx, subject);
  });
}

/** Changes what the body names. @throws {ApiError} forbidden for who is no Owner and for Self, not_found, bad_request */
export function changeSubject(
  deps: WriteSubjectDeps,
  principal: Principal,
  subjectId: string,
  body: ChangeSubjectBody,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireManager(principal, WRITERS);
  refuseSelf(subjectId);
  return deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    await requireOwnerNow(tx, principal);
    const found = await lockSubject(tx, { tenantId, subjectId });
    if (!found) throw noSuchSubject();
    const changed = {
      ...found,
      displayName: body.display_name ?? found.displayName,
      ...readSubjectKeys(body.wallet_pub_key ?? found.walletPubKeys, body.tessera_pub_key ?? found.tesseraPubKeys),
    };
    await updateSubject(tx, changed, changed);
    await record(tx, deps, principal, 'subject.change', changed);
    return answerOf(tx, changed);
  });
}

/** Ends what was shared with it. @throws {ApiError} forbidden for who is no Owner and for Self, not_found */
export async function deleteSubject(deps: WriteSubjectDeps, principal: Principal, subjectId: string): Promise<void> {
  const { tenantId } = principal;
  requireManager(principal, WRITERS);
  refuseSelf(subjectId);
  await deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    await requireOwnerNow(tx, principal);
    const found = await lockSubject(tx, { tenantId, subjectId });
    if (!found) throw noSuchSubject();
    await deleteSubjectRow(tx, found);
    await record(tx, deps, principal, 'subject.delete', found);
  });
}

/** Who is let in from outside, by which wallet, is what an auditor asks. */
function record(
  tx: Tx,
  deps: WriteSubjectDeps,
  actor: Principal,
  action: `subject.${string}`,
  subject: Subject,
): Promise<void> {
  const { tenantId, displayName, walletAddresses } = subject;
  const resource = subjectIdentity(subject.subjectId);
  const details = { display_name: displayName, wallet_address: walletAddresses };
  return recordSecurityEvent(tx, deps, { tenantId, actor, action, resource, details });
}

function refuseSelf(subjectId: string): void {
  if (subjectId === SELF) throw new ApiError('forbidden', 'Self holds the keys of the tenancy: it stays as it is.');
}
