import express, { type Express } from 'express';
import helmet from 'helmet';
import { z } from 'zod';
import { ApiError } from './platform/errors.js';
import { mountRoutes, type PipelineDeps } from './platform/http/mount-routes.js';
import { openApiDocument } from './platform/http/openapi.js';
import { type Route, route } from './platform/http/route.js';

/** Routes that share one OpenAPI document. */
export interface RouteGroup {
  /** As the interface spells it: `v2/assets`. */
  readonly name: string;
  readonly title: string;
  readonly routes: readonly Route[];
}

export interface AppDeps extends PipelineDeps {
  readonly publicUrl: string;
  readonly version: string;
  /** Whose forwarding headers are believed; nobody's when undefined. */
  readonly trustProxy: string | number | undefined;
}

/** What the original calls a part of the interface beside the name by which we do (openapi facts: openapiv1, and its files). */
const ORIGINAL_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'v2/assets/-/events/builtin': 'v2/assets',
    'v2/assets/-/events/recordevidence': 'v2/assets',
    accesspoliciesv1: 'iam/v1/access_policies',
    appregistrationsv1: 'iam/v1/applications',
    assetsv2: 'v2/assets',
    attachmentsv2: 'v2/attachments/assets',
    blobsv1: 'v1/blobs',
    capsv1: 'v1/caps',
    complianceassetsv1: 'v1/compliance/assets',
    compliancepoliciesv1: 'v1/compliance_policies',
    didwebv1: 'v1/didweb',
    events: 'v1/events',
    iamassetsv1: 'iam/v1/assets',
    locationsv2: 'v2/locations',
    membersv1: 'iam/v1/members',
    membershipsv1: 'iam/v1/memberships',
    publicassetsv2: 'v2/publicassets',
    publicattachmentsv2: 'v2/attachments/publicassets',
    publicscittv1: 'v1/publicscitt',
    scittv1: 'v1/scitt',
    subjectsv1: 'iam/v1/subjects',
    tenanciesv1: 'v1/tenancies',
  }),
);

/** The HTTP face of the service: every route of every group behind the one pipeline, and a description of each group. */
export function createApp(groups: readonly RouteGroup[], undocumented: readonly Route[], deps: AppDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  if (deps.trustProxy !== undefined) app.set('trust proxy', deps.trustProxy);
  app.use(securityHeaders());
  const described = groups.map((group) => descriptionRoute(group, deps));
  const routes = [
    ...groups.flatMap((group) => group.routes),
    ...described,
    documentRoute(groups, deps),
    ...undocumented,
  ];
  mountRoutes(app, routes, deps);
  return app;
}

/** TLS is the proxy's business, so is HSTS; resources are read from other origins on purpose. */
function securityHeaders() {
  return helmet({
    strictTransportSecurity: false,
    crossOriginResourcePolicy: false,
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'unsafe-inline'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
  });
}

function documentOf(group: RouteGroup, deps: AppDeps): Record<string, unknown> {
  return openApiDocument(group.routes, { title: group.title, version: deps.version, publicUrl: deps.publicUrl });
}

/** `/archivist/<name>:openapi`, the spelling of the interface. */
function descriptionRoute(group: RouteGroup, deps: AppDeps): Route {
  const body = documentOf(group, deps);
  return route({
    method: 'GET',
    path: `/archivist/${group.name}\\:openapi`,
    operationId: `OpenAPI_${group.name.replaceAll('/', '_')}`,
    summary: `${group.title} as an OpenAPI 2.0 document`,
    access: 'public',
    success: 200,
    codes: [429],
    handle: async () => ({ body }),
  });
}

/** `/archivist/v2/openapi?interface=<name>`, by our name or the original's. */
function documentRoute(groups: readonly RouteGroup[], deps: AppDeps): Route {
  const documents = new Map(groups.map((group) => [group.name, documentOf(group, deps)]));
  return route({
    method: 'GET',
    path: '/archivist/v2/openapi',
    operationId: 'Swagger_GetFile',
    summary: 'The OpenAPI 2.0 document of one part of the interface',
    access: 'public',
    success: 200,
    codes: [400, 404],
    query: z.object({ interface: z.string() }),
    handle: async ({ query }) => {
      const body = documents.get(ORIGINAL_NAMES.get(query.interface) ?? query.interface);
      if (!body) throw new ApiError('not_found', `interface: must be one of ${[...documents.keys()].join(', ')}`);
      return { body };
    },
  });
}
