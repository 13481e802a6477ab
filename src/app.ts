import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Express, RequestHandler } from 'express';
import helmet from 'helmet';
import { type ZodType, z } from 'zod';
import { ApiError } from './platform/errors.js';
import { createExpress } from './platform/http/create-express.js';
import { heldFileReply, holdFile } from './platform/http/held-file.js';
import { mountRoutes, type PipelineDeps } from './platform/http/mount-routes.js';
import { withoutPort } from './platform/http/network-address.js';
import { openApiDocument } from './platform/http/openapi-2.js';
import { openApi3Document } from './platform/http/openapi-3.js';
import { type Route, type RouteGroup, route } from './platform/http/route.js';
import { SMALL_PAGE_STYLE } from './platform/http/small-page.js';
import { keepMade } from './platform/keep-made.js';

export interface AppDeps extends PipelineDeps {
  readonly publicUrl: string;
  readonly version: string;
  /** Schemas that the OpenAPI document of the whole API names. */
  readonly schemas: Readonly<Record<string, ZodType>>;
  /** Trusted proxies; none if undefined. */
  readonly trustProxy: string | number | undefined;
}

const TOKEN_PATH = '/archivist/iam/v1/appidp/token';
const PUBLIC_DOCUMENT = { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' };

/** The original's names of API groups, where they differ from ours (docs/design/interface.md#shapes). */
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
    openapiv1: 'v2/openapi',
    publicassetsv2: 'v2/publicassets',
    publicattachmentsv2: 'v2/attachments/publicassets',
    publicscittv1: 'v1/publicscitt',
    scittv1: 'v1/scitt',
    subjectsv1: 'iam/v1/subjects',
    tenanciesv1: 'v1/tenancies',
  }),
);

/**
 * The HTTP interface of the service: every route of every group behind one pipeline, an OpenAPI 2.0 document for each
 * group and one OpenAPI 3.1 document of everything.
 * @param others routes that belong to no part of the original interface
 */
export function createApp(groups: readonly RouteGroup[], others: readonly RouteGroup[], deps: AppDeps): Express {
  const app = createExpress();
  app.set('query parser', 'simple');
  if (deps.trustProxy !== undefined) trustProxies(app, deps.trustProxy);
  app.use(commonHeaders());
  app.use(usualSpelling);
  const documents = new Map(groups.map((group) => [group.name, lazily(() => documentOf(group, deps))]));
  const descriptions = {
    name: 'v2/openapi',
    title: 'OpenAPI documents',
    routes: [...groups.map((group) => descriptionRoute(group, documents.get(group.name)!)), documentRoute(documents)],
  };
  documents.set(
    descriptions.name,
    lazily(() => documentOf(descriptions, deps)),
  );
  const all = [...groups, descriptions, ...others];
  mountRoutes(app, [...all.flatMap(({ routes }) => routes), wholeDescriptionRoute(all, deps)], deps);
  return app;
}

/** Express compares the addresses of trusted proxies as they are written, also with a port. */
function trustProxies(app: Express, proxies: string | number): void {
  app.set('trust proxy', proxies);
  const isTrusted = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  app.set('trust proxy', (address: string, hop: number) => isTrusted(withoutPort(address), hop));
}

/**
 * Slashes in a row count as one, and `%3A` as a colon: a base URL may end with a slash, clients encode the colon before
 * a verb, and the original's guides write the addresses of log files as `/verifiabledata//merklelogs/…`.
 */
const usualSpelling: RequestHandler = (request, _response, next) => {
  request.url = request.url.replace(/^[^?]*/, (path) => path.replace(/\/{2,}/g, '/').replace(/%3a/gi, ':'));
  next();
};

/** A listener for the operator's own programs: these routes, and nothing else. */
export function createPlainApp(routes: readonly Route[], deps: PipelineDeps): Express {
  const app = createExpress();
  app.use(commonHeaders());
  mountRoutes(app, routes, deps);
  return app;
}

/**
 * The proxy terminates TLS and therefore sets HSTS; resources are readable from other origins on purpose. The headers
 * are the same for every response, so they are made once.
 */
function commonHeaders(): RequestHandler {
  const sample = new ServerResponse(new IncomingMessage(new Socket()));
  helmet({
    strictTransportSecurity: false,
    crossOriginResourcePolicy: false,
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: [SMALL_PAGE_STYLE],
        imgSrc: ['data:'],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
  })(sample.req, sample, (error) => {
    if (error) throw error;
  });
  // What may be kept says so itself: everything else belongs to its reader, and a refusal may be over in a moment.
  sample.setHeader('cache-control', 'no-store');
  const headers = new Map(Object.entries(sample.getHeaders()).map(([name, value]) => [name, String(value)]));
  return (_request, response, next) => {
    response.setHeaders(headers);
    next();
  };
}

function documentOf(group: RouteGroup, deps: AppDeps): Document {
  return openApiDocument(group.routes, { title: group.title, version: deps.version, publicUrl: deps.publicUrl });
}

type Document = Record<string, unknown>;

/** The documents take a fifth of a start to make, so each is made when it is first asked for. */
function lazily<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** `/archivist/<name>:openapi`, as the interface spells it. */
function descriptionRoute(group: RouteGroup, document: () => Document): Route {
  return route({
    method: 'GET',
    path: `/archivist/${group.name}\\:openapi`,
    operationId: `OpenAPI_${group.name.replaceAll('/', '_')}`,
    summary: `Get ${group.title} as an OpenAPI 2.0 document`,
    access: 'public',
    success: 200,
    codes: [429],
    response: z.record(z.string(), z.unknown()),
    handle: async () => ({ body: document() }),
  });
}

/** `/archivist/v2/openapi?interface=<name>`, by our name or the original's. */
function documentRoute(documents: ReadonlyMap<string, () => Document>): Route {
  return route({
    method: 'GET',
    path: '/archivist/v2/openapi',
    operationId: 'Swagger_GetFile',
    summary: 'Get the OpenAPI 2.0 document of one API group',
    access: 'public',
    success: 200,
    codes: [400, 404],
    query: z.object({ interface: z.string() }),
    response: z.record(z.string(), z.unknown()),
    handle: async ({ query }) => {
      const document = documents.get(ORIGINAL_NAMES.get(query.interface) ?? query.interface);
      if (!document) throw new ApiError('not_found', `interface: must be one of ${[...documents.keys()].join(', ')}`);
      return { body: document() };
    },
  });
}

const ABOUT = `Evidence for conversations: signed statements, append-only Merkle logs and receipts.

Get a token with client credentials, then send it as \`Authorization: Bearer …\`. Operations marked \`x-extension\` are not part of the original interface.`;

/** `/openapi.json`: all routes in one document, which is held as bytes: to write it takes longer than most requests. */
function wholeDescriptionRoute(groups: readonly RouteGroup[], deps: AppDeps): Route {
  const described: Route = route({
    method: 'GET',
    path: '/openapi.json',
    operationId: 'OpenAPI_Document',
    summary: 'Get the OpenAPI 3.1 document of the whole API',
    access: 'public',
    extension: true,
    success: 200,
    codes: [304],
    response: z.record(z.string(), z.unknown()),
    handle: async ({ headers }) => heldFileReply(await held(), headers, PUBLIC_DOCUMENT),
  });
  const itself = { name: 'openapi.json', title: 'OpenAPI document of the whole API', routes: [described] };
  const { version, publicUrl, schemas } = deps;
  const about = { title: 'vcon-archivist', description: ABOUT, version, publicUrl, schemas };
  const held = keepMade(async () => {
    const document = await openApi3Document([...groups, itself], { ...about, tokenPath: TOKEN_PATH });
    return holdFile(Buffer.from(JSON.stringify(document)), 'application/json');
  });
  return described;
}
