import { type AppDeps, createApp, createPlainApp } from '../app.js';
import { keyThumbprint } from '../core/cose/cose-key.js';
import { rootFingerprint } from '../core/keys/root-fingerprint.js';
import { signInRoutes } from '../iam/sign-in/sign-in-routes.js';
import type { Closers } from '../platform/close-all.js';
import { explainedPort } from '../platform/explain-failure.js';
import { type Feature, servesInterface } from '../platform/feature.js';
import { type HttpServer, listen } from '../platform/http/http-server.js';
import type { Route, RouteGroup } from '../platform/http/route.js';
import { apiReferenceRoutes } from './api-reference/api-reference-routes.js';
import type { Config } from './config/config.js';
import type { HttpConfig } from './config/http-config.js';
import { listenTls } from './listen-tls.js';
import { metricsRoute } from './metrics-route.js';
import { noSuchPage } from './no-such-page.js';
import { openDownloadBudget } from './open-download-budget.js';
import type { Identity } from './open-identity.js';
import { openLimiter } from './open-limiter.js';
import { onPort } from './own-port.js';
import { packageVersion } from './package-version.js';
import { consolePageRoute, verifyPageRoute } from './page-routes.js';
import { routeGroups } from './route-groups.js';
import { SCHEMA_NAMES } from './schema-names.js';
import type { ServiceBase } from './service-base.js';
import { serviceHealth } from './service-health.js';
import { statusRoutes } from './status-routes.js';

interface Served {
  readonly identity: Identity;
  readonly features: readonly Feature[];
}

/** Makes the HTTP interface of this process: for roles that serve it, of all features; health and metrics for all. */
export function createListeners(
  base: ServiceBase,
  { identity, features }: Served,
  { role, http }: Pick<Config, 'role' | 'http'>,
  closers: Closers,
) {
  const { metrics, logger } = base;
  const deps = appDeps(base, identity, http, closers);
  const measured = metricsRoute({
    token: http.metricsToken,
    metrics: async () => ({ text: await metrics.registry.metrics(), contentType: metrics.registry.contentType }),
  });
  const serves = servesInterface({ role });
  const pages = [consolePageRoute(), ...signInRoutes({ ...base, ...identity.people })];
  const others: RouteGroup[] = [
    ...(serves ? [{ name: 'console', title: 'Console', routes: pages }] : []),
    { name: 'docs', title: 'This reference', routes: apiReferenceRoutes() },
    { name: 'verify', title: 'The verifier', routes: [verifyPageRoute()] },
    {
      name: 'status',
      title: 'Status of the service',
      routes: status(base, identity, http.metrics ? [] : [measured]),
    },
  ];
  const app = createApp(serves ? routeGroups(features) : [], others, deps);
  return {
    /** Listens on every configured port. @throws {Error} naming the variable to correct */
    async listen(): Promise<{ server: HttpServer; tls: HttpServer | undefined }> {
      if (http.metrics) {
        const where = `METRICS_PORT ${http.metrics.port} of ${http.metrics.host} cannot be used`;
        const listener = await explainedPort(
          'METRICS_PORT',
          where,
          listen(createPlainApp([measured], deps), http.metrics),
        );
        closers.push(() => listener.close());
      }
      const server = await onPort(http, listen(app, http));
      closers.push(() => server.close());
      const tls = await listenTls(app, http, { clock: base.clock, logger, expires: metrics.tlsCertificateExpires });
      if (tls) closers.push(() => tls.close());
      return { server, tls };
    },
  };
}

function appDeps(base: ServiceBase, identity: Identity, http: HttpConfig, closers: Closers): AppDeps {
  const { logger, metrics, clockWatch, disk, publicUrl } = base;
  const { trustProxy, corsOrigins } = http;
  return {
    schemas: SCHEMA_NAMES,
    authenticate: identity.authenticate,
    authenticateOperator: identity.authenticateOperator,
    ...openLimiter(http, base, closers),
    downloads: openDownloadBudget(http, base, closers),
    logger,
    answered: (operation, code, seconds) => metrics.requests.observe({ operation, status: String(code) }, seconds),
    seconds: () => performance.now() / 1000,
    requireRightTime: clockWatch.require,
    requireRoom: () => disk.requireRoom('database', 'objects'),
    noSuchPage,
    publicUrl,
    version: packageVersion(),
    trustProxy,
    corsOrigins,
  };
}

function status(base: ServiceBase, identity: Identity, more: readonly Route[]): Route[] {
  const routes = statusRoutes({
    publicUrl: base.publicUrl,
    health: () => serviceHealth({ ...base, keys: { ...base, ...identity.keys } }),
    rootFingerprint: () => rootFingerprint(keyThumbprint(base.manifests.current.manifest.root)),
  });
  return [...routes, ...more];
}
