import { type AppDeps, createApp, createPlainApp } from './app.js';
import { createAcceptWriter } from './archivist/accept/accept-writer.js';
import type { FirstOwner } from './archivist/bootstrap-deployment.js';
import type { Deployment } from './archivist/deployment.js';
import { createEventStreams } from './archivist/live/stream-events.js';
import { createFindLogFile } from './archivist/log-files.js';
import type { KeyOperatorDeps } from './archivist/operator/manage-keys.js';
import { keyThumbprint } from './core/cose/cose-key.js';
import { rootFingerprint } from './core/keys/root-fingerprint.js';
import { signInRoutes } from './iam/sign-in/sign-in-routes.js';
import { forgetUnlimited } from './iam/tenancies/quota.js';
import { createBacklog } from './ledger/backlog.js';
import { watchHaltedLogs } from './ledger/halted/watch-halted-logs.js';
import type { LogRef } from './ledger/log.js';
import { followGrowth } from './ledger/log-growth.js';
import type { Ledger } from './ledger/round.js';
import type { Clock } from './platform/clock.js';
import { type Feature, servesInterface, WORKER_ROLES } from './platform/feature.js';
import type { Ids } from './platform/ids.js';
import type { Keyring } from './platform/keys/keyring.js';
import type { Database } from './platform/postgres/database.js';
import type { Config } from './service/config/config.js';
import { announceSeals } from './service/ledger-report.js';
import { listenTls } from './service/listen-tls.js';
import { metricsRoute } from './service/metrics-route.js';
import { type Base, type Closers, createServiceLedger, openBase, type ServiceOverrides } from './service/open-base.js';
import type { OpenDeployment } from './service/open-deployment.js';
import { openIdentity } from './service/open-identity.js';
import { openLimiter } from './service/open-limiter.js';
import { openPayloadHash } from './service/open-payload-hash.js';
import { packageVersion } from './service/package-version.js';
import { registrationDeps } from './service/registration-deps.js';
import { runConserverLink } from './service/run-conserver-link.js';
import { cosignedCheckpoints, followedLogs, runWitnesses } from './service/run-witnesses.js';
import { SCHEMA_NAMES } from './service/schema-names.js';
import { serviceHealth } from './service/service-health.js';
import { statusRoutes } from './service/status-routes.js';
import { verifyPageRoutes } from './service/verify-page-routes.js';
import { watchClock } from './service/watch-clock.js';
import { watchParts } from './service/watch-parts.js';

/** A running service, or worker, until it is closed. */
export interface RunningService {
  /** The URL that this process listens on. */
  readonly url: string;
  /** The URL of the listener for clients with certificates. */
  readonly tlsUrl?: string;
  /** Where a conserver reports its operations, if the plugin runs in this process. */
  readonly conserverLinkUrl?: string;
  readonly engines: { readonly database: string; readonly queue: string };
  /** Present only at the start that created the deployment. */
  readonly firstOwner?: FirstOwner;
  /** Signs the first Owner in, once; present only where nobody but this machine can reach the service. */
  readonly firstLook?: string;
  /** The parts of the service, for callers that run it in their own process. */
  readonly parts: {
    readonly database: Database;
    readonly keyring: Keyring;
    readonly deployment: Deployment;
    readonly ledger: Ledger;
    readonly clock: Clock;
    readonly ids: Ids;
    readonly createTenancyKeys: OpenDeployment['createTenancyKeys'];
    readonly keys: KeyOperatorDeps;
  };
  /** Fingerprint of the root key: all that a verifier needs (docs/formats/key-manifest.md). */
  readonly rootFingerprint: string;
  /** Stops gracefully: requests and rounds under way are finished. */
  close(): Promise<void>;
}

/**
 * Starts the parts of the configured role in this process.
 * @throws {Error} with a readable message when something that the service needs is missing; everything that was opened
 *   is closed
 */
export async function startService(config: Config, overrides: ServiceOverrides = {}): Promise<RunningService> {
  const closers: Closers = [];
  const close = async (): Promise<void> => {
    for (let closer = closers.pop(); closer; closer = closers.pop()) await closer();
  };
  try {
    return await startParts(config, overrides, closers, close);
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

async function startParts(
  config: Config,
  overrides: ServiceOverrides,
  closers: Closers,
  close: () => Promise<void>,
): Promise<RunningService> {
  const base = await openBase(config, overrides, closers);
  const { database, queues, ids, clock, clockWatch, open } = base;
  const watchedClock = await watchClock(base);
  closers.push(() => watchedClock.close());
  const report = { metrics: base.metrics, published: announceSeals(base.announcements) };
  const here = createServiceLedger(config, base, report);
  const apart = config.role === 'all' && database.engine === 'PostgreSQL';
  const ledger = (apart && overrides.ledgerThread?.(config, here, report, base.disk.report)) || here;
  // The thread loads its modules while this one starts the rest.
  const ledgerStarted = config.role === 'all' || config.role === 'ledger' ? ledger.start() : Promise.resolve();
  closers.push(async () => {
    await ledgerStarted.catch(() => undefined);
    await ledger.stop();
  });
  const nudge = (tenantId: string, logId: string) => ledger.nudge(tenantId, logId);
  const { deployment, keyring } = open;
  await startBackgroundJobs(config, { ...base, clock: clockWatch.right, deployment, keyring, nudge }, (end) =>
    closers.push(end),
  );
  const witnessing = await runWitnesses(config, { ...base, ...open, nudge: ledger.nudge });
  if (witnessing) closers.push(() => witnessing.close());
  const { server, tls, identity } = await startServer(config, base, { ledger, ledgerStarted }, closers);
  const link =
    config.role === 'all' || config.role === 'worker'
      ? await runConserverLink({ config, ownPort: server.port, ...base })
      : undefined;
  if (link) closers.push(() => link.close());
  return {
    url: server.url,
    ...(tls ? { tlsUrl: tls.url } : {}),
    ...(link ? { conserverLinkUrl: link.url } : {}),
    engines: { database: database.engine, queue: queues.engine },
    ...(open.firstOwner ? { firstOwner: open.firstOwner } : {}),
    ...(identity.people.firstLook && servesInterface(config) ? { firstLook: identity.people.firstLook.link } : {}),
    parts: {
      database,
      keyring: open.keyring,
      deployment,
      ledger,
      clock,
      ids,
      createTenancyKeys: open.createTenancyKeys,
      keys: identity.keys,
    },
    rootFingerprint: rootFingerprint(keyThumbprint(open.manifests.current.manifest.root)),
    close,
  };
}

const servesInterface = ({ role }: Config): boolean => role === 'all' || role === 'api';

/** Starts the HTTP server: the interface for roles that serve it; health and metrics for all. */
async function startServer(
  config: Config,
  base: Base,
  { ledger, ledgerStarted }: { ledger: Ledger; ledgerStarted: Promise<void> },
  closers: Closers,
) {
  const { database, queues, disk, open, clock, clockWatch, ids, logger, metrics, failpoints, objectStore, outside } =
    base;
  const { deployment, keyring } = open;
  const { publicUrl } = config;
  const nudge = (tenantId: string, logId: string) => ledger.nudge(tenantId, logId);
  const watched = watchOutside({ ...base });
  closers.push(() => watched.close());
  const halted = await watchHaltedLogs({ database, logger });
  closers.push(() => halted.close());
  const backlog = createBacklog({ database, limit: config.maxWaitingEntries, logger, waiting: metrics.entriesWaiting });
  backlog.start();
  closers.push(() => backlog.stop());
  const writer = createAcceptWriter({
    database,
    deployment,
    clock: clockWatch.right,
    ids,
    quotas: config.quotas,
    halted: halted.has,
    wallets: new Map(),
    statementAssets: new Map(),
    failpoints,
    metrics,
    admit: backlog.admit,
    nudge,
  });
  closers.push(() => writer.drain());
  const pageTokens = createPageTokens(keyring.pageTokenKey);
  const { quotas } = config;
  const provenance = { database, deployment, writer, clock, ids, logger, pageTokens, publicUrl, quotas };
  const blobs = { objectStore, ids, blobLimit: config.blobLimit };
  const logFiles = {
    database,
    find: createFindLogFile({ database, objectStore }),
    onlyMembersAnd: config.logFiles === 'members' ? deployment.publicTenancy : undefined,
  };
  const tlog = {
    database,
    keyring,
    publicUrl,
    logs: followedLogs(deployment),
    cosignedCheckpoint: servesInterface(config)
      ? await cosignedCheckpoints(config, { database, ...open })
      : async () => undefined,
  };
  const wanted = ({ tenantId, logId }: LogRef) => ledger.nudge(tenantId, logId, true);
  const scitt = registrationDeps({ ...base, publicUrl, deployment, writer, wanted });
  closers.push(async () => scitt.receipts.close());
  const payloadHash = await openPayloadHash({ ...base, config, scitt, keyring, nudge, halted: halted.has, closers });
  const limiter = openLimiter(config, base, closers);
  if (servesInterface(config)) await forgetUnlimited(database, quotas);
  const identity = await openIdentity({ config, ...base, nudge });
  closers.push(() => identity.close());
  const policyChanged = policyAuditWaker({ backend: queues, logger });
  const growth = followGrowth({ database, announcements: base.announcements, logger });
  const status = statusRoutes({
    publicUrl,
    health: () =>
      serviceHealth({ database, queues, disk, ledger, halted, deployment, keys: identity.keys, outside, clockWatch }),
    rootFingerprint: () => rootFingerprint(keyThumbprint(open.manifests.current.manifest.root)),
  });
  const measured = metricsRoute({
    token: config.http.metricsToken,
    metrics: async () => ({ text: await metrics.registry.metrics(), contentType: metrics.registry.contentType }),
  });
  const appDeps: AppDeps = {
    schemas: SCHEMA_NAMES,
    authenticate: identity.authenticate,
    authenticateOperator: identity.authenticateOperator,
    ...(limiter
      ? { admit: (principal: Principal, requests: number) => limiter.admit(principal.tenantId, requests) }
      : {}),
    logger,
    answered: (operation, code, seconds) => metrics.requests.observe({ operation, status: String(code) }, seconds),
    seconds: () => performance.now() / 1000,
    requireRightTime: clockWatch.require,
    requireRoom: () => disk.requireRoom('database', 'objects'),
    publicUrl,
    version: packageVersion(),
    trustProxy: config.trustProxy,
    corsOrigins: config.corsOrigins,
  };
  const apart = config.http.metrics;
  const app = createApp(
    servesInterface(config)
      ? routeGroups({
          provenance,
          keyring,
          tokens: identity.tokens,
          logFiles,
          tlog,
          scitt,
          payloadHash,
          blobs,
          identity,
          events: createEventStreams({ database, deployment, clock, logger, growth }),
          webhooks: { secrets: webhookSecrets({ keyring, ids }), allowPrivate: identity.people.allowPrivate },
          copies: { database, copyFolder: embeddedCopyFolder(config.dataDir) },
          logs: { database, objectStore, deployment, halted, clock, ids, logger, nudge },
          policyChanged,
        })
      : [],
    [
      ...(servesInterface(config)
        ? [{ name: 'console', title: 'Console', routes: [...consolePageRoutes(), ...signInRoutes(identity.people)] }]
        : []),
      { name: 'docs', title: 'This reference', routes: apiReferenceRoutes() },
      { name: 'verify', title: 'The verifier', routes: verifyPageRoutes() },
      { name: 'status', title: 'Status of the service', routes: apart ? status : [...status, measured] },
    ],
    appDeps,
  );
  await ledgerStarted;
  // The start of the ledger can halt logs.
  await halted.refresh();
  await disk.start();
  if (apart) {
    const where = `METRICS_PORT ${apart.port} of ${apart.host} cannot be used`;
    const listener = await explained(where, listen(createPlainApp([measured], appDeps), apart));
    closers.push(() => listener.close());
  }
  const { host, port } = config;
  const { connections } = config.http;
  const server = await explained(
    `PORT ${port} of HOST ${host} cannot be used`,
    listen(app, { host, port, connections }),
  );
  closers.push(() => server.close());
  const tls = await listenTls(app, config, metrics.tlsCertificateExpires);
  if (tls) closers.push(() => tls.close());
  // Streams end before the listeners wait for their last responses.
  closers.push(async () => growth.close());
  return { server, tls, identity };
}
