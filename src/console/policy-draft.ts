import { parsePolicyFilter } from '../filter/attribute-filter.js';
import { FilterError } from '../filter/filter-error.js';
import { matchesAttributeFilter } from '../filter/matches.js';
import { keysOf, readUserAttribute } from '../iam/access/principal-key.js';
import { type Json, textOf } from './json-members.js';
import { FILTER_SYNTAX, type Permission, type PolicyBody } from './policy-sentence.js';

/** A policy as a person writes it, in texts. */
export interface PolicyDraft {
  readonly name: string;
  /** One list of alternatives on each line, with “ or ” between them. */
  readonly assets: string;
  readonly people: string;
  /** Names with commas between them. */
  readonly readsAttributes: string;
  readonly readsEvents: string;
  readonly writesEvents: string;
  readonly writesAttributes: string;
}

export const NEW_DRAFT: PolicyDraft = {
  name: '',
  assets: '',
  people: '',
  readsAttributes: '*',
  readsEvents: '*',
  writesEvents: '',
  writesAttributes: '',
};

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
export function bodyOf(draft: PolicyDraft): PolicyBody {
  return {
    display_name: draft.name.trim(),
    filters: linesOf(draft.assets),
    access_permissions: [
      {
        subjects: [],
        // Reading shows events of every behaviour; recording is that of ordinary events.
        behaviours: [],
        include_attributes: [],
        user_attributes: linesOf(draft.people),
        asset_attributes_read: namesOf(draft.readsAttributes),
        asset_attributes_write: namesOf(draft.writesAttributes),
        event_arc_display_type_read: namesOf(draft.readsEvents),
        event_arc_display_type_write: namesOf(draft.writesEvents),
      },
    ],
  };
}

/** The draft of a policy; undefined if a draft cannot say all of it. */
export function draftOf(policy: PolicyBody): PolicyDraft | undefined {
  const [permission, ...others] = policy.access_permissions;
  if (!permission || others.length > 0) return undefined;
  const lines = (lists: PolicyBody['filters']) => lists.map(({ or }) => or.join(OR)).join('\n');
  const draft: PolicyDraft = {
    name: policy.display_name,
    assets: lines(policy.filters),
    people: lines(permission.user_attributes),
    readsAttributes: permission.asset_attributes_read.join(', '),
    readsEvents: permission.event_arc_display_type_read.join(', '),
    writesEvents: permission.event_arc_display_type_write.join(', '),
    writesAttributes: permission.asset_attributes_write.join(', '),
  };
  // A value that contains what stands between values, another organisation, behaviours: what comes back must be the same.
  const again = bodyOf(draft);
  const isSame = (['filters', 'access_permissions'] as const).every(
    (name) => JSON.stringify(sorted(again[name])) === JSON.stringify(sorted(policy[name])),
  );
  return isSame ? draft : undefined;
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

/** What is wrong with a draft, in a sentence; undefined if nothing is. The service checks it again. */
export function faultOf({ filters, access_permissions: permissions }: PolicyBody): string | undefined {
  try {
    parsePolicyFilter(filters, FILTER_SYNTAX);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return error.message;
  }
  for (const entry of permissions.flatMap(({ user_attributes: lists }) => lists.flatMap(({ or }) => or)))
    try {
      readUserAttribute(entry);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return `${entry}: ${error.message}`;
    }
  return undefined;
}

/** A member or an application, as policies name them. */
export interface Person {
  readonly name: string;
  readonly keys: ReadonlySet<string>;
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

/** Whether a permission names a person. */
export function names({ user_attributes: lists }: Permission, { keys }: Person): boolean {
  return lists.length > 0 && lists.every(({ or }) => or.some((entry) => keys.has(readUserAttribute(entry))));
}

/** The assets that a policy is about, among these. @throws {FilterError} if its filter cannot be read */
export function matching({ filters }: PolicyBody, assets: readonly Json[]): Json[] {
  const filter = parsePolicyFilter(filters, FILTER_SYNTAX);
  return assets.filter((asset) => matchesAttributeFilter(filter, (asset['attributes'] ?? {}) as Json));
}
