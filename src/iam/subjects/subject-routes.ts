import { z } from 'zod';
import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { type Route, route } from '../../platform/http/route.js';
import { NAME_ORDERS } from '../../platform/listing/list-order.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { endingQuery, pastSharesOf } from '../access/past-shares.js';
import { listSubjects, type ReadSubjectDeps, readSubject } from './read-subjects.js';
import { changeSubjectSchema, createSubjectSchema, subjectSchema } from './subject.js';
import { changeSubject, createSubject, deleteSubject, type WriteSubjectDeps } from './write-subject.js';

const SUBJECTS = '/archivist/iam/v1/subjects';
const shared = { access: 'token', success: 200 } as const;

/** Subjects: other organisations, and the tenancy's own keys (docs/design/interface.md#subjects). */
export function subjectRoutes(deps: ReadSubjectDeps & WriteSubjectDeps): Route[] {
  return [...collectionRoutes(deps), ...itemRoutes(deps)];
}

function collectionRoutes(deps: ReadSubjectDeps & WriteSubjectDeps): Route[] {
  return [
    route({
      ...shared,
      method: 'GET',
      path: SUBJECTS,
      operationId: 'Subjects_ListIAMSubjects',
      summary: 'List subjects, newest first or by name',
      codes: [206, 400, 401, 403, 429, 500],
      query: listQuerySchema(['display_name', 'wallet_address', 'order_by'], { values: { order_by: NAME_ORDERS } }),
      response: pageSchema('subjects', subjectSchema),
      handle: async ({ principal, query, headers }) =>
        pageReply('subjects', await listSubjects(deps, principal, { query, exactTotal: wantsExactTotal(headers) })),
    }),
    route({
      ...shared,
      method: 'POST',
      path: SUBJECTS,
      operationId: 'Subjects_CreateIAMSubject',
      summary: 'Import the subject of another organisation',
      codes: [400, 401, 403, 413, 429, 500],
      body: createSubjectSchema,
      response: subjectSchema,
      handle: async ({ principal, body }) => ({ body: await createSubject(deps, principal, body) }),
    }),
  ];
}

function itemRoutes(deps: ReadSubjectDeps & WriteSubjectDeps): Route[] {
  const item = {
    ...shared,
    path: `${SUBJECTS}/:uuid`,
    params: z.object({ uuid: uuidSchema }),
    wrongId: 'bad_request',
  } as const;
  return [
    route({
      ...item,
      method: 'GET',
      operationId: 'Subjects_GetIAMSubject',
      summary: 'Read a subject; the UUID of zeros is Self',
      codes: [400, 401, 403, 404, 429, 500],
      response: subjectSchema,
      handle: async ({ principal, params }) => ({ body: await readSubject(deps, principal, params.uuid) }),
    }),
    route({
      ...item,
      method: 'PATCH',
      operationId: 'Subjects_UpdateIAMSubject',
      summary: 'Change the name or the keys of a subject',
      codes: [400, 401, 403, 404, 413, 429, 500],
      query: endingQuery,
      body: changeSubjectSchema,
      response: subjectSchema,
      handle: async ({ principal, params, query, body }) => ({
        body: await changeSubject(deps, principal, params.uuid, body, pastSharesOf(query)),
      }),
    }),
    route({
      ...item,
      method: 'DELETE',
      operationId: 'Subjects_DeleteIAMSubject',
      summary: 'Remove a subject',
      codes: [400, 401, 403, 404, 429, 500],
      query: endingQuery,
      response: z.strictObject({}),
      handle: async ({ principal, params, query }) => {
        await deleteSubject(deps, principal, params.uuid, pastSharesOf(query));
        return { body: {} };
      },
    }),
  ];
}
