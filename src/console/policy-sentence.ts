import { type AttributeTest, parsePolicyFilter } from '../filter/attribute-filter.js';
import { readUserAttribute } from '../iam/access/principal-key.js';
import { conditionsText, FILTER_WORDS } from './console-texts.js';
import { OPERATOR_TEXTS } from './operator-texts.js';

const { words } = OPERATOR_TEXTS.access;

/** A list of alternatives: one of them must match. */
interface Alternatives {
  readonly or: readonly string[];
}

/** What a policy lets somebody do. */
export interface Permission {
  readonly subjects: readonly string[];
  readonly behaviours: readonly string[];
  readonly include_attributes: readonly string[];
  readonly user_attributes: readonly Alternatives[];
  readonly asset_attributes_read: readonly string[];
  readonly asset_attributes_write: readonly string[];
  readonly event_arc_display_type_read: readonly string[];
  readonly event_arc_display_type_write: readonly string[];
}

/** An access policy as the service takes it. */
export interface PolicyBody {
  readonly display_name: string;
  readonly filters: readonly Alternatives[];
  readonly access_permissions: readonly Permission[];
}

/** Names of other organisations, by the identity of their subject. */
export type Organisations = ReadonlyMap<string, string>;

/**
 * A policy in sentences: one about the assets, and one about each permission.
 * @param who named in place of the people of each permission, or how to name organisations
 * @throws {FilterError} if a filter cannot be read
 */
export function policySentences(
  { filters, access_permissions: permissions }: PolicyBody,
  who: string | Organisations,
): string[] {
  const tests = parsePolicyFilter(filters, FILTER_SYNTAX);
  const assets = conditionsText(tests.map((any) => any.map(testText)));
  return [
    assets === '' ? words.everyAsset : words.assets(assets),
    ...permissions.flatMap((each) =>
      typeof who === 'string' ? permissionText(each, who) : permissionTexts(each, who),
    ),
  ];
}

/** A permission without what other organisations never get: they cannot write. */
export const readingOnly = (permission: Permission): Permission => ({
  ...permission,
  asset_attributes_write: [],
  event_arc_display_type_write: [],
});

/** How the entries of a policy's filter are written. */
export const FILTER_SYNTAX = { field: 'filters', prefix: 'attributes.' } as const;

function testText(test: AttributeTest): string {
  if (test.kind === 'filled') return test.negated ? words.notFilled(test.name) : words.filled(test.name);
  return test.negated ? words.differs(test.name, test.value) : words.equals(test.name, test.value);
}

/** One sentence; two if the people of a permission may write, which the organisations beside them may not. */
function permissionTexts(permission: Permission, named: Organisations): string[] {
  const { user_attributes: lists, subjects } = permission;
  const people = conditionsText(lists.map(({ or }) => or.map(personText)));
  const others = subjects.map((subject) => words.organisation(named.get(subject) ?? subject)).join(FILTER_WORDS.or);
  if (others === '') return [permissionText(permission, people === '' ? words.nobody : people)];
  const reading = readingOnly(permission);
  if (people === '') return [permissionText(reading, others)];
  const { asset_attributes_write: attributes, event_arc_display_type_write: events } = permission;
  if (attributes.length + events.length > 0)
    return [permissionText(permission, people), permissionText(reading, others)];
  return [permissionText(permission, people + FILTER_WORDS.or + others)];
}

function permissionText(permission: Permission, who: string): string {
  const named = (list: readonly string[], all: string, some: (text: string) => string) =>
    list.includes('*') ? all : some(list.map((name) => `“${name}”`).join(', '));
  const attributes = (list: readonly string[]) => named(list, words.allAttributes, words.attributes);
  const events = (list: readonly string[]) => named(list, words.allEvents, words.events);
  const { include_attributes: included, asset_attributes_read: read } = permission;
  const verbs: (readonly [readonly string[], (list: readonly string[]) => string])[] = [
    [[...new Set([...read, ...included])], (list) => words.reads(attributes(list))],
    [permission.event_arc_display_type_read, (list) => words.reads(events(list))],
    [permission.event_arc_display_type_write, (list) => words.records(events(list))],
    [permission.asset_attributes_write, (list) => words.changes(attributes(list))],
  ];
  const given = verbs.filter(([list]) => list.length > 0).map(([list, textOf]) => textOf(list));
  if (given.length === 0) return who === words.nobody ? words.nobodyMay : words.mayNothing(who);
  const { behaviours } = permission;
  // Without any, they are those of ordinary events.
  if (behaviours.length > 0) given.push(named(behaviours, words.allBehaviours, words.behaviours));
  return words.may(who, given.join(FILTER_WORDS.and));
}

function personText(entry: string): string {
  const key = readUserAttribute(entry);
  if (key.startsWith('group:')) return words.group(key.slice('group:'.length));
  const [name, value] = [key.slice(0, key.indexOf('=')), key.slice(key.indexOf('=') + 1)];
  if (name === 'email') return value;
  return name === 'subject' ? words.application(value) : words.claim(name.replace(/^jwt_/, ''), value);
}
