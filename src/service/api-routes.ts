import { assetRoutes } from '../archivist/assets/asset-routes.js';
import { keepShares } from '../archivist/assets/keep-shares.js';
import { assetPolicyRoutes, policyAssetRoutes } from '../archivist/assets/policy-asset-routes.js';
import { attachmentRoutes } from '../archivist/attachments/attachment-routes.js';
import type { AttachmentDeps } from '../archivist/attachments/read-attachment.js';
import { blobRoutes } from '../archivist/blobs/blob-routes.js';
import { assetEventBulkRoutes, assetFreeEventBulkRoutes } from '../archivist/bulk/bulk-routes.js';
import { blockchainRoutes, nodeRoutes } from '../archivist/chain/chain-routes.js';
import { complianceAssetRoutes, compliancePolicyRoutes } from '../archivist/compliance/compliance-routes.js';
import { assetEventRoutes } from '../archivist/events/asset-event-routes.js';
import { assetFreeEventRoutes } from '../archivist/events/asset-free-event-routes.js';
import { eventStreamRoutes } from '../archivist/live/event-stream-routes.js';
import type { OpenEventStream } from '../archivist/live/stream-events.js';
import { locationRoutes } from '../archivist/locations/location-routes.js';
import { type LogFileDeps, logFileRoutes } from '../archivist/log-file-routes.js';
import { type CopyOperatorDeps, copyOperatorRoutes } from '../archivist/operator/copy-operator-routes.js';
import { keyOperatorRoutes } from '../archivist/operator/key-operator-routes.js';
import { logOperatorRoutes } from '../archivist/operator/log-operator-routes.js';
import type { LogOperatorDeps } from '../archivist/operator/manage-logs.js';
import { operatorRoutes } from '../archivist/operator/operator-routes.js';
import { proofRoutes } from '../archivist/proofs/proof-routes.js';
import type { ProvenanceDeps } from '../archivist/provenance-deps.js';
import { publicAssetRoutes } from '../archivist/public/public-asset-routes.js';
import { securityEventRoutes } from '../archivist/security/security-event-routes.js';
import type { WebhookDeps } from '../archivist/webhooks/manage-webhooks.js';
import { webhookRoutes } from '../archivist/webhooks/webhook-routes.js';
import { accessPolicyRoutes } from '../iam/access/access-policy-routes.js';
import type { EndSharesDeps } from '../iam/access/end-shares.js';
import { applicationRoutes } from '../iam/applications/application-routes.js';
import { inviteRoutes } from '../iam/invites/invite-routes.js';
import { memberRoutes } from '../iam/members/member-routes.js';
import { membershipRoutes } from '../iam/members/membership-routes.js';
import { subjectRoutes } from '../iam/subjects/subject-routes.js';
import { capRoutes } from '../iam/tenancies/cap-routes.js';
import { tenancyRoutes } from '../iam/tenancies/tenancy-routes.js';
import { tlsCaCertificateRoutes } from '../iam/tls-ca-certificates/tls-ca-certificate-routes.js';
import type { IssueTokenDeps } from '../iam/tokens/issue-token.js';
import { principalRoutes } from '../iam/tokens/principal-routes.js';
import { revocationRoutes } from '../iam/tokens/revocation-routes.js';
import { tokenRoutes } from '../iam/tokens/token-routes.js';
import { bundlePageReader } from '../platform/built-pages.js';
import type { RouteGroup } from '../platform/http/route.js';
import type { Keyring } from '../platform/keys/keyring.js';
import { configurationRoutes, keyByKidRoute } from '../scitt/discovery-routes.js';
import { entryRoutes } from '../scitt/entry-routes.js';
import { evidenceKeys, keyRoutes } from '../scitt/key-routes.js';
import { createManifestFile, manifestRoutes } from '../scitt/manifest-routes.js';
import type { ScittDeps } from '../scitt/register-statement.js';
import { privateScittRoutes, publicScittRoutes } from '../scitt/registered-event-routes.js';
import { TLOG_LIST, type TlogDeps, tlogRoutes } from '../scitt/tlog-routes.js';
import { trustRoutes } from '../scitt/trust-routes.js';
import { builtPage } from './built-page.js';
import type { Identity } from './open-identity.js';
import { pageForBrowsers } from './page-for-browsers.js';

/** Every part of the interface that is served, each with its own OpenAPI document. */
export function routeGroups(deps: {
  provenance: ProvenanceDeps;
  keyring: Keyring;
  tokens: IssueTokenDeps;
  identity: Identity;
  logs: LogOperatorDeps;
  logFiles: LogFileDeps;
  tlog: TlogDeps;
  scitt: ScittDeps;
  payloadHash: readonly RouteGroup[];
  blobs: Omit<AttachmentDeps, keyof ProvenanceDeps>;
  copies: CopyOperatorDeps;
  events: OpenEventStream;
  webhooks: Pick<WebhookDeps, 'secrets' | 'allowPrivate'>;
  /** Wakes the job that records policy changes on assets. */
  policyChanged(): void;
}): RouteGroup[] {
  const { provenance, tokens } = deps;
  const { manifests, deployment, database } = deps.identity.keys;
  const keyManifests = { database, manifests, deploymentTenancy: deployment.deploymentTenancy };
  const keyManifestFile = createManifestFile(keyManifests);
  const blobs = { ...provenance, ...deps.blobs };
  const chain = { ...provenance, keyring: deps.keyring };
  const shares: EndSharesDeps = { keepShares: (tx, ended) => keepShares(tx, provenance, ended) };
  const attachments = attachmentRoutes(blobs);
  const proofs = proofRoutes({
    ...provenance,
    evidenceKeys: { ...evidenceKeys(tokens), keyManifests: keyManifestFile },
    evidencePage: bundlePageReader(),
  });
  const assetPage = builtPage('asset');
  const logsPage = builtPage('logs');
  const proofsUnder = (path: string) => proofs.filter((each) => each.path.startsWith(path));
  return [
    {
      name: 'v2/assets',
      title: 'Assets and their events',
      routes: [
        ...assetRoutes(provenance),
        ...assetEventRoutes(provenance),
        ...assetEventBulkRoutes(provenance),
        ...proofsUnder('/archivist/v2/assets/'),
      ],
    },
    {
      name: 'v1/events',
      title: 'Asset-free events',
      routes: [
        ...eventStreamRoutes(deps.events),
        ...assetFreeEventRoutes(provenance),
        ...assetFreeEventBulkRoutes(provenance),
        ...proofsUnder('/archivist/v1/events/'),
      ],
    },
    {
      name: 'v2/publicassets',
      title: 'Public assets',
      routes: [
        ...publicAssetRoutes(provenance).map((each) =>
          each.path.endsWith('/publicassets/:uuid') ? pageForBrowsers(each, assetPage) : each,
        ),
        ...proofsUnder('/archivist/v2/publicassets/'),
      ],
    },
    { name: 'v1/blobs', title: 'Blobs', routes: blobRoutes(blobs) },
    {
      name: 'v2/attachments/assets',
      title: 'Attachments',
      routes: attachments.filter((each) => each.access === 'token'),
    },
    {
      name: 'v2/attachments/publicassets',
      title: 'Attachments of public assets',
      routes: attachments.filter((each) => each.access === 'public'),
    },
    { name: 'v2/locations', title: 'Locations', routes: locationRoutes(provenance) },
    { name: 'v1/compliance_policies', title: 'Compliance policies', routes: compliancePolicyRoutes(provenance) },
    { name: 'v1/compliance/assets', title: 'Compliance of assets', routes: complianceAssetRoutes(provenance) },
    { name: 'v1/archivistnode', title: 'The chain', routes: nodeRoutes(chain) },
    { name: 'v1alpha2/blockchain/assets', title: 'Transactions of events', routes: blockchainRoutes(chain) },
    { name: 'v1/tenancies', title: 'Tenancies', routes: tenancyRoutes(deps.identity.people) },
    { name: 'v1/caps', title: 'Caps', routes: capRoutes(provenance) },
    { name: 'operator/v1/tenancies', title: 'Operator', routes: operatorRoutes(deps.identity.operator) },
    { name: 'operator/v1/logs', title: 'Logs of the deployment', routes: logOperatorRoutes(deps.logs) },
    { name: 'operator/v1/keys', title: 'Keys of the deployment', routes: keyOperatorRoutes(deps.identity.keys) },
    { name: 'operator/v1/copies', title: 'Copies of the database', routes: copyOperatorRoutes(deps.copies) },
    {
      name: 'iam/v1/applications',
      title: 'Applications',
      routes: [...applicationRoutes({ ...provenance, pepper: tokens.keyring.pepper }), ...revocationRoutes(provenance)],
    },
    { name: 'iam/v1/members', title: 'Members', routes: memberRoutes(provenance) },
    {
      name: 'v1/invites',
      title: 'Invites',
      routes: inviteRoutes(deps.identity.people, '/archivist/v1/invites', 'Invites'),
    },
    {
      name: 'iam/v1/invites',
      title: 'Invites, by their other path',
      routes: inviteRoutes(deps.identity.people, '/archivist/iam/v1/invites', 'IAMInvites'),
    },
    { name: 'iam/v1/principal', title: 'The caller', routes: principalRoutes() },
    { name: 'iam/v1/memberships', title: 'Memberships', routes: membershipRoutes(provenance) },
    {
      name: 'iam/v1/access_policies',
      title: 'Access policies',
      routes: [
        ...accessPolicyRoutes({ ...provenance, ...shares, policyChanged: deps.policyChanged }),
        ...policyAssetRoutes(provenance),
      ],
    },
    { name: 'iam/v1/assets', title: 'Access policies of assets', routes: assetPolicyRoutes(provenance) },
    { name: 'iam/v1/subjects', title: 'Subjects', routes: subjectRoutes({ ...provenance, ...shares }) },
    { name: 'iam/v1/appidp', title: 'Access tokens', routes: tokenRoutes(tokens) },
    { name: 'v1/tlscacertificates', title: 'TLS CA certificates', routes: tlsCaCertificateRoutes(provenance) },
    { name: 'iam/v1/webhooks', title: 'Webhooks', routes: webhookRoutes({ ...provenance, ...deps.webhooks }) },
    { name: 'v1/security_events', title: 'Security audit', routes: securityEventRoutes(provenance) },
    { name: 'v1/didweb', title: 'Keys', routes: [...keyRoutes(tokens), keyByKidRoute(tokens)] },
    { name: 'v1/keymanifests', title: 'Key manifests', routes: manifestRoutes(keyManifests, keyManifestFile) },
    {
      name: 'v1/scrapi',
      title: 'Registration of statements (SCRAPI)',
      routes: [...entryRoutes(deps.scitt), ...configurationRoutes(tokens, '', 'Scrapi')],
    },
    { name: 'v1/publicscitt', title: 'Public registration of statements', routes: publicScittRoutes(deps.scitt) },
    {
      name: 'v1/scitt',
      title: 'Private registration of statements',
      routes: [...privateScittRoutes(deps.scitt), ...trustRoutes(deps.scitt)],
    },
    { name: 'v1/verifiabledata', title: 'Log files', routes: logFileRoutes(deps.logFiles) },
    {
      name: 'v1/tlog',
      title: 'Statement logs',
      routes: tlogRoutes(deps.tlog).map((each) => (each.path === TLOG_LIST ? pageForBrowsers(each, logsPage) : each)),
    },
    ...deps.payloadHash,
  ];
}
