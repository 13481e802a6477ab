import type { FirstOwner } from './archivist/bootstrap-deployment.js';
import type { Deployment } from './archivist/deployment.js';
import type { KeyOperatorDeps } from './archivist/operator/manage-keys.js';
import { keyThumbprint } from './core/cose/cose-key.js';
import { rootFingerprint } from './core/keys/root-fingerprint.js';
import { serviceDid } from './core/statement/issuer-did.js';
import { forgetUnlimited } from './iam/tenancies/quota.js';
import type { Ledger } from './ledger/round.js';
import type { Clock } from './platform/clock.js';
import { type Closers, closeAll } from './platform/close-all.js';
import { servesInterface, WORKER_ROLES } from './platform/feature.js';
import type { Ids } from './platform/ids.js';
import type { Keyring } from './platform/keys/keyring.js';
import type { Database } from './platform/postgres/database.js';
import { openAnnouncements } from './platform/postgres/open-announcements.js';
import { runWhileRight } from './platform/queue/run-while-right.js';
import { within } from './platform/time-limit.js';
import type { Config } from './service/config/config.js';
import { announceSeals } from './service/ledger-report.js';
import { type Base, openBase, type ServiceOverrides } from './service/open-base.js';
import type { OpenDeployment } from './service/open-deployment.js';
import { openFeatures } from './service/open-features.js';
import { type Identity, openIdentity } from './service/open-identity.js';
import { requireOwnPort } from './service/own-port.js';
import { runConserverLink } from './service/run-conserver-link.js';
import { createListeners } from './service/serve-http.js';
import { type ServiceBase, serviceBase } from './service/service-base.js';
import { createServiceLedger } from './service/service-ledger.js';
import { watchParts } from './service/watch-parts.js';

const FORGET_WITHIN_MS = 2_000;

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
  /** The name that the evidence so far has, present only if `PUBLIC_URL` now gives another one. */
  readonly formerIssuer?: string;
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
  const close = () => closeAll(closers);
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
  await requireOwnPort(config.http);
  const thread = openThread(config, overrides, closers);
  const opened = await openBase(config, overrides, closers);
  // Not in the base, which the ledger's thread opens too: two connections that listen take each other for two processes.
  const announcements = openAnnouncements(config, opened.logger);
  closers.push(() => announcements.close());
  const { ledger, started: ledgerStarted } = beginLedger(config, { ...opened, announcements }, thread, closers);
  const watched = await watchParts(opened, config, closers);
  if (servesInterface(config)) await keepCountsRight(opened, config, closers);
  const base = serviceBase(opened, { ...watched, ledger, announcements }, config);
  const identity = await openIdentity(base, config);
  closers.push(() => identity.close());
  const features = await openFeatures(base, identity, config, closers);
  const all = features.flatMap((feature) => feature.jobs ?? []);
  const jobs = await runWhileRight(
    all.filter(({ roles }) => roles.includes(config.role)),
    { clockIsWrong: () => opened.clockWatch.fault() !== undefined, logger: opened.logger },
  );
  closers.push(() => jobs.close());
  const listeners = createListeners(base, { identity, features }, config, closers);
  await ledgerStarted;
  // The start of the ledger can halt logs.
  await watched.halted.refresh();
  await base.disk.start();
  const { server, tls } = await listeners.listen();
  closers.push(async () => {
    for (const feature of features) feature.endResponses?.();
  });
  const runsLink = WORKER_ROLES.includes(config.role);
  const link = runsLink ? await runConserverLink({ ...base, config, ownPort: server.port }) : undefined;
  if (link) closers.push(() => link.close());
  return {
    url: server.url,
    ...(tls ? { tlsUrl: tls.url } : {}),
    ...(link ? { conserverLinkUrl: link.url } : {}),
    ...running(base, identity, config),
    close,
  };
}

/** The ledger gets a thread of its own where the process has all roles and the database allows several connections. */
function openThread(config: Config, { openLedgerThread }: ServiceOverrides, closers: Closers) {
  const isApart = config.role === 'all' && config.databaseUrl !== undefined;
  const thread = isApart ? openLedgerThread?.(config) : undefined;
  if (thread) closers.push(() => thread.close());
  return thread;
}

/** Opens the ledger and starts it, in roles that run it. What does not need it opens meanwhile. */
function beginLedger(
  config: Config,
  base: Base & Pick<ServiceBase, 'announcements'>,
  thread: ReturnType<typeof openThread>,
  closers: Closers,
): { readonly ledger: Ledger; readonly started: Promise<void> } {
  const report = { metrics: base.metrics, published: announceSeals(base.announcements) };
  const here = createServiceLedger(config, base, report);
  const ledger = thread?.ledger(here, report, base.disk.report) ?? here;
  const started = config.role === 'all' || config.role === 'ledger' ? ledger.start() : Promise.resolve();
  // The caller awaits it later. An earlier failure must not end the process before that.
  started.catch(() => undefined);
  closers.push(async () => {
    await started.catch(() => undefined);
    await ledger.stop();
  });
  return { ledger, started };
}

/**
 * Beside processes that have a limit already, one without it adds what they do not count: it deletes their counts when it
 * starts, and again when it stops. A stop never fails by it.
 */
async function keepCountsRight(
  { database, logger }: Base,
  { quotas }: Pick<Config, 'quotas'>,
  closers: Closers,
): Promise<void> {
  await forgetUnlimited(database, quotas);
  closers.push(() =>
    within(FORGET_WITHIN_MS, forgetUnlimited(database, quotas), 'the database did not answer in time').catch(
      (error: unknown) => logger.warn({ err: error }, 'counts of quotas may be too low: they could not be deleted'),
    ),
  );
}

function running(base: ServiceBase, identity: Identity, config: Pick<Config, 'role'>) {
  const { database, backend, clock, ids, deployment, keyring, manifests, firstOwner, createTenancyKeys, ledger } = base;
  const { firstLook } = identity.people;
  const { issuer, root } = manifests.current.manifest;
  return {
    engines: { database: database.engine, queue: backend.engine },
    ...(firstOwner ? { firstOwner } : {}),
    ...(firstLook && servesInterface(config) ? { firstLook: firstLook.link } : {}),
    ...(issuer === serviceDid(base.publicUrl) ? {} : { formerIssuer: issuer }),
    parts: {
      database,
      keyring,
      deployment,
      ledger,
      clock,
      ids,
      createTenancyKeys,
      keys: { ...base, ...identity.keys },
    },
    rootFingerprint: rootFingerprint(keyThumbprint(root)),
  };
}
