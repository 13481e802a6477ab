import { z } from 'zod';
import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { listReply } from '../../platform/http/list-response.js';
import { type Reply, type Route, route } from '../../platform/http/route.js';
import { listQuerySchema, RESULT_LIMIT } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import {
  type AssetCompliance,
  assetComplianceSchema,
  type CheckComplianceDeps,
  checkAssetCompliance,
} from './check-asset-compliance.js';
import { compliancePolicySchema, shownPolicySchema } from './compliance-policy.js';
import { COMPLIANCE_POLICY_FILTERS, COMPLIANCE_TYPE_FILTERS } from './compliance-policy-filter-store.js';
import { type CreateCompliancePolicyDeps, createCompliancePolicy } from './create-compliance-policy.js';
import { deleteCompliancePolicy } from './delete-compliance-policy.js';
import {
  listCompliancePolicies,
  type ReadCompliancePolicyDeps,
  readCompliancePolicy,
} from './read-compliance-policies.js';

const byUuid = z.object({ uuid: uuidSchema });

const POLICIES = '/archivist/v1/compliance_policies';
const collection = { path: POLICIES, access: 'token', success: 200 } as const;
const item = { path: `${POLICIES}/:uuid`, params: byUuid, access: 'token', success: 200 } as const;

/** Compliance policies (docs/design/interface.md#compliance). */
export function compliancePolicyRoutes(deps: CreateCompliancePolicyDeps & ReadCompliancePolicyDeps): Route[] {
  return [
    route({
      ...collection,
      method: 'GET',
      operationId: 'CompliancePolicies_ListCompliancePolicy',
      summary: 'List compliance policies, newest first',
      codes: [206, 400, 401, 403, 404, 429],
      query: listQuerySchema(COMPLIANCE_POLICY_FILTERS, {
        values: { compliance_type: COMPLIANCE_TYPE_FILTERS, order_by: ['DEFAULT'] },
      }),
      response: pageSchema('compliance_policies', shownPolicySchema),
      handle: async ({ principal, query, headers }) => {
        const exactTotal = wantsExactTotal(headers);
        return pageReply('compliance_policies', await listCompliancePolicies(deps, principal, { query, exactTotal }));
      },
    }),
    route({
      ...collection,
      method: 'POST',
      operationId: 'CompliancePolicies_AddCompliancePolicy',
      summary: 'Create a compliance policy',
      example: {
        compliance_type: 'COMPLIANCE_SINCE',
        display_name: 'Consent is renewed every year',
        asset_filter: [{ or: ['attributes.arc_display_type=vcon'] }],
        event_display_type: 'vcon_consent_accepted',
        time_period_seconds: '31536000',
      },
      codes: [400, 401, 402, 403, 404, 413, 429],
      body: compliancePolicySchema,
      response: shownPolicySchema,
      handle: async ({ principal, body }) => ({ body: await createCompliancePolicy(deps, principal, body) }),
    }),
    route({
      ...item,
      method: 'GET',
      operationId: 'CompliancePolicies_GetCompliancePolicy',
      summary: 'Read a compliance policy',
      codes: [400, 401, 403, 404, 429],
      response: shownPolicySchema,
      handle: async ({ principal, params }) => ({ body: await readCompliancePolicy(deps, principal, params.uuid) }),
    }),
    route({
      ...item,
      method: 'DELETE',
      operationId: 'CompliancePolicies_DeleteCompliancePolicy',
      summary: 'Delete a compliance policy and return it',
      codes: [400, 401, 403, 404, 429],
      response: shownPolicySchema,
      handle: async ({ principal, params }) => ({ body: await deleteCompliancePolicy(deps, principal, params.uuid) }),
    }),
  ];
}

/** The compliance of assets (docs/design/interface.md#compliance). */
export function complianceAssetRoutes(deps: CheckComplianceDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/archivist/v1/compliance/assets/:uuid',
      operationId: 'ComplianceAssets_ListAssetCompliance',
      summary: 'Check the compliance of an asset, now or at a past time',
      access: 'token',
      success: 200,
      codes: [206, 400, 401, 403, 404, 429],
      params: byUuid,
      query: listQuerySchema(['compliant_at', 'order_by'], { values: { order_by: ['DEFAULT'] } }),
      longRead: true,
      response: assetComplianceSchema,
      handle: async ({ principal, params, query }) =>
        complianceReply(await checkAssetCompliance(deps, principal, params.uuid, query)),
    }),
  ];
}

/** The reply of a list, plus the verdict. */
function complianceReply(checked: AssetCompliance): Reply {
  const { compliant, compliantAt, statements, nextPageToken, total } = checked;
  const reply = listReply({ key: 'compliance', items: statements, nextPageToken, total, limit: RESULT_LIMIT });
  return { ...reply, body: { compliant, compliant_at: compliantAt, ...(reply.body as Record<string, unknown>) } };
}
