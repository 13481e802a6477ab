import { openAccept } from '../archivist/accept/open-accept.js';
import { openAccess } from '../archivist/access/open-access.js';
import { openBlobs } from '../archivist/attachments/open-blobs.js';
import { openEvents } from '../archivist/bulk/open-events.js';
import { openCaptureReports } from '../archivist/captures/open-capture-reports.js';
import { openChain } from '../archivist/chain/open-chain.js';
import { openCompliance } from '../archivist/compliance/open-compliance.js';
import { openAssets } from '../archivist/create/open-assets.js';
import { openEventStream } from '../archivist/live/open-event-stream.js';
import { openLocations } from '../archivist/locations/open-locations.js';
import { openLogFiles } from '../archivist/open-log-files.js';
import { openOperator } from '../archivist/operator/open-operator.js';
import { openProofs } from '../archivist/proofs/open-proofs.js';
import { openPublicAssets } from '../archivist/public/open-public-assets.js';
import { openSecurityEvents } from '../archivist/security/open-security-events.js';
import { openWebhooks } from '../archivist/webhooks/open-webhooks.js';
import { openApplications } from '../iam/applications/open-applications.js';
import { openInvites } from '../iam/invites/open-invites.js';
import { openMembers } from '../iam/members/open-members.js';
import { openTenancies } from '../iam/tenancies/open-tenancies.js';
import { openTlsCaCertificates } from '../iam/tls-ca-certificates/open-tls-ca-certificates.js';
import { openTokens } from '../iam/tokens/open-tokens.js';
import type { Closers } from '../platform/close-all.js';
import type { Feature } from '../platform/feature.js';
import { embeddedCopyFolder } from '../platform/postgres/open-database.js';
import { evidenceKeys } from '../scitt/key-routes.js';
import { createManifestFile } from '../scitt/manifest-routes.js';
import { openKeys } from '../scitt/open-keys.js';
import { openStatementLogs } from '../scitt/open-statement-logs.js';
import { openPayloadHash } from '../scitt/payload-hash/open-payload-hash.js';
import { TLOG_LIST } from '../scitt/tlog-routes.js';
import { builtPage } from './built-page.js';
import { bundlePageReader } from './built-pages.js';
import type { Config } from './config/config.js';
import { issuersSoFar } from './issuers-so-far.js';
import type { Identity } from './open-identity.js';
import { openObjectSweep } from './open-object-sweep.js';
import { openRegistration } from './open-registration.js';
import { openScheduledAudit } from './open-scheduled-audit.js';
import { cosignedLogs, openWitnessing } from './open-witnessing.js';
import { withPage } from './page-for-browsers.js';
import type { ServiceBase } from './service-base.js';

const PUBLIC_ASSET = ['/archivist/v2/publicassets/:uuid', '/archivist/publicassets/:uuid'];

/** What single features read, or a few of them. What more of them read is in the base. */
type FeatureSettings = Pick<
  Config,
  | 'role'
  | 'dataDir'
  | 'keysDir'
  | 'blobs'
  | 'anchorSchedule'
  | 'logFiles'
  | 'witnessing'
  | 'payloadHash'
  | 'auditSchedule'
>;

/**
 * Opens every feature on this base, each with the settings that it alone uses.
 * @param closers receive each feature as soon as it is open, so that it is closed if a later one cannot be opened
 */
export async function openFeatures(
  base: ServiceBase,
  identity: Identity,
  config: FeatureSettings,
  closers: Closers,
): Promise<readonly Feature[]> {
  const features: Feature[] = [];
  const open = <Opened extends Feature>(feature: Opened): Opened => {
    features.push(feature);
    closers.push(async () => feature.close?.());
    return feature;
  };
  const people = { ...base, ...identity.people };
  const keyManifests = createManifestFile(base);

  const { writer } = open(openAccept(base));
  const writing = { ...base, writer };
  open(openAssets(writing));
  open(openEventStream(base));
  open(openEvents(writing));
  open(withPage(openPublicAssets(base), PUBLIC_ASSET, builtPage('asset')));
  const proofKeys = { ...evidenceKeys(base), keyManifests };
  open(openProofs({ ...base, evidenceKeys: proofKeys, evidencePage: bundlePageReader() }));
  open(openBlobs(base, config.blobs));
  open(openLocations(base));
  open(openCompliance(base));
  open(openChain(base, config.anchorSchedule));
  open(openCaptureReports(base));
  open(openSecurityEvents(base));
  open(openLogFiles(base, config.logFiles));

  open(openTenancies(people));
  open(openApplications(base));
  open(openMembers(base));
  open(openInvites(people));
  open(openTokens({ ...base, guard: identity.guard }));
  open(openAccess(base));
  open(openTlsCaCertificates(base));
  open(openWebhooks(base));

  const { scitt } = open(
    openRegistration({ ...writing, issuersSoFar: await issuersSoFar(base.database, base.deployment) }),
  );
  open(openKeys(base, keyManifests));
  const cosigned = await cosignedLogs(base, config);
  open(withPage(openStatementLogs({ ...base, ...cosigned }), [TLOG_LIST], builtPage('logs')));
  open(openWitnessing(base, config.witnessing));
  open(await openPayloadHash({ ...base, scitt }, config.payloadHash));

  const { keys, disabled } = identity;
  open(openOperator({ ...base, ...keys, disabled }, embeddedCopyFolder(config.dataDir)));
  open(openScheduledAudit(base, config));
  open(openObjectSweep(base));
  return features;
}
