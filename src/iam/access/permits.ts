import type { Principal } from '../../platform/http/principal.js';
import { type AssetResource, assetView } from './asset-view.js';
import { type Created, createdBy, isOwner } from './owner-and-creator.js';

/** What a caller wants to do. `manage` means to create, change and delete settings of a tenancy. */
type Verb = 'create' | 'read' | 'record' | 'manage';

/** What the verb applies to. Creators are named by token issuer and subject. */
type Resource =
  | { readonly kind: 'assets' | 'asset_free_events' | 'blobs'; readonly tenantId: string }
  | {
      readonly kind: 'location';
      readonly tenantId: string;
      readonly permittedSubjects: readonly string[];
      /**
       * UUIDs of the subjects under which its tenancy knows the principal's tenancy, if the two are mutually confirmed.
       */
      readonly knownAs?: readonly string[];
    }
  | {
      readonly kind: 'access_policies' | 'compliance_policies' | 'locations' | 'tenancy' | 'caps' | 'chain';
      readonly tenantId: string;
    }
  | ({ readonly kind: 'asset' } & AssetResource)
  | ({ readonly kind: 'asset_free_event' | 'blob'; readonly tenantId: string } & Created)
  | ({
      readonly kind: 'registration';
      readonly tenantId: string;
      /** The principal has brought the same statement, after its first registrant. */
      readonly isBroughtAgain: boolean;
    } & Created);

/**
 * The single point of authorization: everything that is not granted here is denied (docs/design/README.md#promises).
 * - Owners may do everything in their own tenancy.
 * - Any active identity may create assets, asset-free events and blobs, read what it created, record on its own assets,
 *   and read locations, compliance policies and caps.
 * - An identity that brings a statement which is registered already may read that registration as its first registrant may.
 * - Permitted subjects of a location may change it, too.
 * What policies grant is left out. They give access only to assets; an `AssetView` says to which parts and events.
 */
export function permits(principal: Principal, verb: Verb, resource: Resource): boolean {
  if (resource.kind === 'asset') {
    const view = assetView(principal, resource, []);
    return verb === 'read' ? view.visible : verb === 'record' ? view.records : view.whole;
  }
  if (resource.tenantId !== principal.tenantId)
    return resource.kind === 'location' && isOwner(principal) && isKnownAmong(resource);
  if (isOwner(principal)) return true;
  switch (resource.kind) {
    case 'assets':
    case 'asset_free_events':
    case 'blobs':
      return verb === 'create';
    case 'compliance_policies':
    case 'locations':
    case 'caps':
    case 'chain':
      return verb === 'read';
    case 'access_policies':
    case 'tenancy':
      return false;
    case 'location':
      return verb === 'read' || (verb === 'manage' && isNamedAmong(principal, resource.permittedSubjects));
    case 'asset_free_event':
    case 'blob':
      return verb === 'read' && createdBy(principal, resource);
    case 'registration':
      return verb === 'read' && (createdBy(principal, resource) || resource.isBroughtAgain);
  }
}

/**
 * What a list may show of rows that no policy reaches: everything of the tenancy, or only what this identity created.
 */
export type Visibility = 'all' | { readonly issuer: string; readonly subject: string };

export function visibilityOf(principal: Principal): Visibility {
  return isOwner(principal) ? 'all' : { issuer: principal.issuer, subject: principal.subject };
}

/** Another organisation is named by its subject, and its Owners act for it. */
function isKnownAmong({ knownAs = [], permittedSubjects }: Extract<Resource, { kind: 'location' }>): boolean {
  return knownAs.some((subjectId) => permittedSubjects.includes(`subjects/${subjectId}`));
}

/**
 * People are named by e-mail address, applications by client id or identity (docs/design/interface.md#locations). No
 * member is named by its subject: the identity provider chooses it, and could choose the id of an application.
 */
function isNamedAmong({ kind, subject, email }: Principal, names: readonly string[]): boolean {
  const own = [
    ...(kind === 'member' ? [] : [subject, `applications/${subject}`]),
    ...(email === '' ? [] : [email.toLowerCase()]),
  ];
  return names.some((name) => own.includes(name.includes('@') ? name.toLowerCase() : name));
}
