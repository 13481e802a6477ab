import { parsePolicyFilter } from '../filter/attribute-filter.js';
import { FilterError } from '../filter/filter-error.js';
import { matchesAttributeFilter } from '../filter/matches.js';
import { keysOf, readUserAttribute } from '../iam/access/principal-key.js';
import { type Json, textOf } from './json-members.js';
import { FILTER_SYNTAX, type Permission, type PolicyBody, readingOnly } from './policy-sentence.js';

/** What some people, applications and organisations may do, as a person writes it. */
export interface PermissionDraft {
  /** One list of alternatives on each line, with “ or ” between them. */
  readonly people: string;
  /** Identities of the subjects of other organisations. */
  readonly organisations: readonly string[];
  /** Names with commas between them. */
  readonly readsAttributes: string;
  readonly readsEvents: string;
  readonly writesEvents: string;
  readonly writesAttributes: string;
  readonly behaviours: string;
}

/** A policy as a person writes it, in texts. */
export interface PolicyDraft {
  readonly name: string;
  /** In the form of `PermissionDraft.people`. */
  readonly assets: string;
  readonly permissions: readonly PermissionDraft[];
}

export const NEW_PERMISSION: PermissionDraft = {
  people: '',
  organisations: [],
  readsAttributes: '*',
  readsEvents: '*',
  writesEvents: '',
  writesAttributes: '',
  behaviours: '',
};

export const NEW_DRAFT: PolicyDraft = { name: '', assets: '', permissions: [NEW_PERMISSION] };

const OR = ' or ';

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => ({ or: line.split(OR).map((entry) => entry.trim()) }));

const namesOf = (text: string) =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** The policy that a draft means. Nothing of it is checked. */
export function bodyOf({ name, assets, permissions }: PolicyDraft): PolicyBody {
  return {
    display_name: name.trim(),
    filters: linesOf(assets),
    access_permissions: permissions.map((draft) => ({
      subjects: draft.organisations,
      behaviours: namesOf(draft.behaviours),
      include_attributes: [],
      user_attributes: linesOf(draft.people),
      asset_attributes_read: namesOf(draft.readsAttributes),
      asset_attributes_write: namesOf(draft.writesAttributes),
      event_arc_display_type_read: namesOf(draft.readsEvents),
      event_arc_display_type_write: namesOf(draft.writesEvents),
    })),
  };
}

const textOfLines = (lists: PolicyBody['filters']) => lists.map(({ or }) => or.join(OR)).join('\n');

/** The draft of a policy; undefined if a draft cannot say all of it. */
export function draftOf(policy: PolicyBody): PolicyDraft | undefined {
  const permissions = policy.access_permissions.map(withoutIncluded);
  const draft: PolicyDraft = {
    name: policy.display_name,
    assets: textOfLines(policy.filters),
    permissions: permissions.map((permission) => ({
      people: textOfLines(permission.user_attributes),
      organisations: permission.subjects,
      readsAttributes: permission.asset_attributes_read.join(', '),
      readsEvents: permission.event_arc_display_type_read.join(', '),
      writesEvents: permission.event_arc_display_type_write.join(', '),
      writesAttributes: permission.asset_attributes_write.join(', '),
      behaviours: permission.behaviours.join(', '),
    })),
  };
  // A value may contain what stands between values: what comes back must be the same.
  const again = bodyOf(draft);
  const texts = [again, { filters: policy.filters, access_permissions: permissions }].map((each) =>
    JSON.stringify(sorted([each.filters, each.access_permissions])),
  );
  return texts[0] === texts[1] ? draft : undefined;
}

/** `include_attributes` says the same as `asset_attributes_read`, and adds to it. */
function withoutIncluded(permission: Permission): Permission {
  const { include_attributes: included, asset_attributes_read: read } = permission;
  return { ...permission, include_attributes: [], asset_attributes_read: [...new Set([...read, ...included])] };
}

/** A value with its members in one order, for comparing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

/** What is wrong with the conditions of a draft, each in a sentence. The service checks it again. */
interface DraftFaults {
  readonly assets: string | undefined;
  /** Of each permission. */
  readonly people: readonly (string | undefined)[];
}

export function faultsOf({ filters, access_permissions: permissions }: PolicyBody): DraftFaults {
  return {
    assets: filters.flatMap(({ or }) => or.map(faultOfCondition)).find(Boolean),
    people: permissions.map(({ user_attributes: lists }) =>
      lists.flatMap(({ or }) => or.map(faultOfPerson)).find(Boolean),
    ),
  };
}

function faultOfCondition(entry: string): string | undefined {
  try {
    parsePolicyFilter([{ or: [entry] }], FILTER_SYNTAX);
    return undefined;
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return `“${entry}”: ${error.reason}`;
  }
}

function faultOfPerson(entry: string): string | undefined {
  try {
    readUserAttribute(entry);
    return undefined;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return `“${entry}”: ${error.message}`;
  }
}

/** A member, an application or another organisation, as policies name them. */
export interface Person {
  readonly name: string;
  readonly keys: ReadonlySet<string>;
  /** Of another organisation: its Owners, who may read and never write. */
  readonly isOrganisation?: true;
}

/** Another organisation, by its subject. */
export function personOfSubject(subject: Json): Person {
  const keys = new Set([textOf(subject['identity']).toLowerCase()]);
  return { name: textOf(subject['display_name']), keys, isOrganisation: true };
}

/** A member of the list, with groups that only the identity provider knows. */
export function personOfMember(member: Json, groups: readonly string[]): Person {
  const email = textOf(member['email']);
  const name = textOf(member['display_name']) || email;
  return { name, keys: keysFor({ kind: 'member', email, groups: [...groups] }) };
}

/** An application of the list. */
export function personOfApplication(application: Json): Person {
  const claims = (application['custom_claims'] ?? {}) as Readonly<Record<string, string>>;
  const subject = textOf(application['client_id']);
  return { name: textOf(application['display_name']), keys: keysFor({ kind: 'application', subject, claims }) };
}

function keysFor(known: Partial<Parameters<typeof keysOf>[0]>): ReadonlySet<string> {
  const blank = {
    tenantId: '',
    issuer: '',
    subject: '',
    displayName: '',
    email: '',
    roles: [],
    claims: {},
    groups: [],
  };
  return new Set(keysOf({ kind: 'member', ...blank, ...known }));
}

/** The permissions that name a person, without what the person can never do. */
export function permissionsOf({ access_permissions: permissions }: PolicyBody, person: Person): Permission[] {
  const named = permissions.filter((permission) => names(permission, person));
  if (!person.isOrganisation) return named;
  return named.map(readingOnly);
}

function names({ user_attributes: lists, subjects }: Permission, { keys, isOrganisation }: Person): boolean {
  if (isOrganisation) return subjects.some((subject) => keys.has(subject.toLowerCase()));
  return lists.length > 0 && lists.every(({ or }) => or.some((entry) => keys.has(readUserAttribute(entry))));
}

/** The assets that a policy is about, among these; no public one. @throws {FilterError} if its filter cannot be read */
export function matching({ filters }: PolicyBody, assets: readonly Json[]): Json[] {
  const filter = parsePolicyFilter(filters, FILTER_SYNTAX);
  return assets.filter(
    (asset) => asset['public'] !== true && matchesAttributeFilter(filter, (asset['attributes'] ?? {}) as Json),
  );
}
