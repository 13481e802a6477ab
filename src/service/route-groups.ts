import type { Feature } from '../platform/feature.js';
import type { Route, RouteGroup } from '../platform/http/route.js';

/** Every part of the interface, in the order of the OpenAPI document, by its name in paths. */
const TITLES: Readonly<Record<string, string>> = {
  'v2/assets': 'Assets and their events',
  'v1/events': 'Asset-free events',
  'v2/publicassets': 'Public assets',
  'v1/blobs': 'Blobs',
  'v2/attachments/assets': 'Attachments',
  'v2/attachments/publicassets': 'Attachments of public assets',
  'v2/locations': 'Locations',
  'v1/compliance_policies': 'Compliance policies',
  'v1/compliance/assets': 'Compliance of assets',
  'v1/archivistnode': 'The chain',
  'v1alpha2/blockchain/assets': 'Transactions of events',
  'v1/tenancies': 'Tenancies',
  'v1/caps': 'Caps',
  'operator/v1/tenancies': 'Operator',
  'operator/v1/logs': 'Logs of the deployment',
  'operator/v1/chain': 'The chain of the deployment',
  'operator/v1/keys': 'Keys of the deployment',
  'operator/v1/copies': 'Copies of the database',
  'iam/v1/applications': 'Applications',
  'iam/v1/members': 'Members',
  'v1/invites': 'Invites',
  'iam/v1/invites': 'Invites, at their second path',
  'iam/v1/principal': 'The caller',
  'iam/v1/memberships': 'Memberships',
  'iam/v1/access_policies': 'Access policies',
  'iam/v1/assets': 'Access policies of assets',
  'iam/v1/subjects': 'Subjects',
  'iam/v1/appidp': 'Access tokens',
  'v1/tlscacertificates': 'TLS CA certificates',
  'iam/v1/webhooks': 'Webhooks',
  'v1/capture_reports': 'State of capture',
  'v1/security_events': 'Security audit',
  'v1/didweb': 'Keys',
  'v1/keymanifests': 'Key manifests',
  'v1/scrapi': 'Registration of statements (SCRAPI)',
  'v1/publicscitt': 'Public registration of statements',
  'v1/scitt': 'Private registration of statements',
  'v1/verifiabledata': 'Log files',
  'v1/tlog': 'Statement logs',
  'v1/payloadhash': 'Registration of payload hashes',
};

/**
 * The routes of all features by group, each group with its own OpenAPI document. Groups without routes are left out.
 * @throws {Error} if a feature names a group that is not in the list
 */
export function routeGroups(features: readonly Feature[]): RouteGroup[] {
  const byGroup = new Map<string, Route[]>(Object.keys(TITLES).map((name) => [name, []]));
  for (const { routes = {} } of features)
    for (const [name, some] of Object.entries(routes)) {
      const group = byGroup.get(name);
      if (!group) throw new Error(`there is no group of routes named ${name}`);
      group.push(...some);
    }
  return [...byGroup]
    .filter(([, routes]) => routes.length > 0)
    .map(([name, routes]) => ({ name, title: TITLES[name]!, routes }));
}
