import { type AttributeTest, parsePolicyFilter } from '../filter/attribute-filter.js';
import { FILTER_WORDS } from './console-texts.js';
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

const joined = (lists: readonly Alternatives[], textOf: (entry: string) => string): string =>
  lists.map(({ or }) => or.map(textOf).join(FILTER_WORDS.or)).join(FILTER_WORDS.and);

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
  const assets = tests.map((any) => any.map(testText).join(FILTER_WORDS.or)).join(FILTER_WORDS.and);
  return [
    assets === '' ? words.everyAsset : words.assets(assets),
    ...permissions.map((each) => permissionText(each, typeof who === 'string' ? who : peopleText(each, who))),
  ];
}

/** How the entries of a policy's filter are written. */
export const FILTER_SYNTAX = { field: 'filters', prefix: 'attributes.' } as const;

function testText(test: AttributeTest): string {
  if (test.kind === 'filled') return test.negated ? words.notFilled(test.name) : words.filled(test.name);
  return test.negated ? words.differs(test.name, test.value) : words.equals(test.name, test.value);
}

function peopleText({ user_attributes: lists, subjects }: Permission, organisations: Organisations): string {
  const people = lists.length === 0 ? [] : [joined(lists, personText)];
  const all = [...people, ...subjects.map((subject) => words.organisation(organisations.get(subject) ?? subject))];
  return all.length === 0 ? words.nobody : all.join(FILTER_WORDS.or);
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
  if (given.length === 0) return words.mayNothing(who);
  const { behaviours } = permission;
  // Without any, they are those of ordinary events.
  if (behaviours.length > 0) given.push(named(behaviours, words.allBehaviours, words.behaviours));
  return words.may(who, given.join(FILTER_WORDS.and));
}

function personText(entry: string): string {
  const [, name = '', value = ''] = /^([^=:]+)[=:](.*)$/su.exec(entry) ?? [];
  if (name === 'email') return value;
  if (name === 'group') return words.group(value);
  if (name === 'subject') return words.application(value);
  return words.claim(name.replace(/^jwt_/, ''), value);
}
