import { z } from 'zod';
import { MOST_REASON } from '../../core/fork/fork-statement.js';
import { FIRST_ID } from '../../ledger/halted/halted-log-store.js';
import { type Route, route } from '../../platform/http/route.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { forkLog } from './fork-log.js';
import { type LogOperatorDeps, listLogs, resumeLog, showLog } from './manage-logs.js';

const LOGS = '/archivist/operator/v1/logs';
const PAGE = 1000;

const logSchema = z.object({
  identity: z.string(),
  name: z.string(),
  tenancy: z.string(),
  kind: z.string(),
  leaves: z.number(),
  seal_number: z.number(),
  halted: z.string(),
});
const sealSchema = z.object({ log: z.string(), number: z.number(), leaves: z.number() });
const explainedSchema = logSchema.extend({
  finding: z.enum(['consistent', 'database_older', 'objects_older', 'objects_differ']),
  database_seal: sealSchema,
  object_store_seal: sealSchema,
});

/** What the operator of a deployment does with its logs: an extension of the interface, used by `vcon-archivist logs`. */
export function logOperatorRoutes(deps: LogOperatorDeps): Route[] {
  const shared = { access: 'operator', extension: true, success: 200 } as const;
  const params = z.object({ uuid: uuidSchema });
  return [
    route({
      ...shared,
      method: 'GET',
      path: LOGS,
      operationId: 'Operator_ListLogs',
      summary: 'List the logs and their states, without their contents',
      codes: [400, 401],
      query: z.object({ after: uuidSchema.optional() }),
      response: z.object({ logs: z.array(logSchema) }),
      handle: async ({ query }) => ({ body: { logs: await listLogs(deps, query.after ?? FIRST_ID, PAGE) } }),
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${LOGS}/:uuid`,
      operationId: 'Operator_ExplainLog',
      summary: 'Compare the last seal of a log in the database with the last one in the object store',
      codes: [400, 401, 404],
      params,
      response: explainedSchema,
      handle: async ({ params }) => ({ body: await showLog(deps, params.uuid) }),
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${LOGS}/:uuid\\:resume`,
      operationId: 'Operator_ResumeLog',
      summary: 'Resume a halted log whose last seal is the same in the database and the object store',
      codes: [400, 401, 404, 409],
      params,
      response: explainedSchema,
      handle: async ({ params }) => ({ body: await resumeLog(deps, params.uuid) }),
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${LOGS}/:uuid\\:fork`,
      operationId: 'Operator_ForkLog',
      summary: 'Continue a halted log openly as a new log that names it, because the newer database is lost',
      codes: [400, 401, 404, 409],
      params,
      body: z.strictObject({ confirm: z.string().max(100), reason: z.string().max(MOST_REASON) }),
      response: explainedSchema,
      handle: async ({ params, body }) => ({ body: await forkLog(deps, params.uuid, body) }),
    }),
  ];
}
