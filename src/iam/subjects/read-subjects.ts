import type { Principal } from '../../platform/http/principal.js';
import { condition } from '../../platform/listing/condition.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { readListQuery } from '../../platform/listing/list-query.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import type { PageTokens } from '../../platform/postgres/page-token.js';
import { confirmedShares } from '../access/confirmed-share-store.js';
import { requireManager } from '../tenancies/require-manager.js';
import { noSuchSubject, type Subject, subjectResponse } from './subject.js';
import { subjectConditions } from './subject-filter-store.js';
import { findSubject, subjectRows } from './subject-store.js';

const READERS = 'Only Owners may read the subjects of a tenancy.';

export interface ReadSubjectDeps {
  readonly database: Database;
  readonly pageTokens: PageTokens;
}

/** One subject. @throws {ApiError} forbidden if the caller is not an Owner, not_found */
export function readSubject(
  deps: ReadSubjectDeps,
  principal: Principal,
  subjectId: string,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireManager(principal, READERS);
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const subject = await findSubject(tx, { tenantId, subjectId });
    if (!subject) throw noSuchSubject();
    return answerOf(tx, subject);
  });
}

/** The subject with its confirmation as of this transaction. */
export async function answerOf(tx: Tx, subject: Subject): Promise<Record<string, unknown>> {
  return subjectResponse(subject, (await confirmedSubjects(tx, subject.tenantId)).has(subject.subjectId));
}

/** A page of the tenancy's subjects, including Self. @throws {ApiError} forbidden if the caller is not an Owner */
export function listSubjects(
  deps: ReadSubjectDeps,
  principal: Principal,
  request: { query: Readonly<Record<string, unknown>>; exactTotal: boolean },
): Promise<Page<Record<string, unknown>>> {
  const { tenantId } = principal;
  requireManager(principal, READERS);
  const list = `subjects ${tenantId}`;
  const { exactTotal } = request;
  const query = readListQuery(request.query, list, deps.pageTokens);
  const conditions = [condition('s.tenant_id = ?', tenantId), ...subjectConditions(query.filters)];
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const reader = subjectRows.reader(tx, query.filters);
    const page = await listPage(reader, { list, query, conditions, exactTotal, tokens: deps.pageTokens });
    const confirmed = await confirmedSubjects(tx, tenantId);
    return { ...page, entries: page.entries.map((each) => subjectResponse(each, confirmed.has(each.subjectId))) };
  });
}

async function confirmedSubjects(tx: Tx, tenantId: string): Promise<ReadonlySet<string>> {
  return new Set((await confirmedShares(tx, tenantId)).flatMap((share) => share.knownHereAs));
}
