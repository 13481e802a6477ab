import type { Principal } from '../../platform/http/principal.js';

/**
 * How a policy names people, applications and organisations (docs/design/interface.md#access-policies): `email=<address>`,
 * `subject=<client id>`, `jwt_<claim>=<value>`, `group:<name>`, and `subjects/<uuid>` for another organisation.
 */
export type PrincipalKey = string;

/** Longer keys do not fit in an index. */
const MAX_PRINCIPAL_KEY = 512;

const SUBJECT = /^subjects\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The own organisation; a policy names its people instead. */
const SELF = 'subjects/00000000-0000-0000-0000-000000000000';

/**
 * Parses one entry of `user_attributes`; also accepts `:` for `=`, and `=` for the `:` of a group.
 * @throws {TypeError} saying what is wrong with it
 */
export function readUserAttribute(entry: string): PrincipalKey {
  const claim = entry.startsWith('jwt_') && entry.includes('=');
  const [, name, value] = (claim ? /^([^=]+)=(.*)$/su : /^([^=:]+)[=:](.*)$/su).exec(entry) ?? [];
  if (name === undefined || value === undefined)
    throw new TypeError('must be email=, subject= or jwt_<claim>= and a value, or group:<name>');
  if (name.endsWith('!')) throw new TypeError('must name who is allowed: != is not supported');
  if (value === '' || value === '*') throw new TypeError('must have a value after the name');
  if (entry.length > MAX_PRINCIPAL_KEY) throw new TypeError(`must have at most ${MAX_PRINCIPAL_KEY} characters`);
  if (name === 'email') return emailKey(value);
  if (name === 'group') return groupKey(value);
  if (name === 'subject' || /^jwt_./su.test(name)) return `${name}=${value}`;
  throw new TypeError(`${name} is not email, subject, jwt_<claim> or group`);
}

/** Parses one entry of `subjects`. @throws {TypeError} saying what is wrong with it */
export function readSubject(entry: string): PrincipalKey {
  const subject = entry.toLowerCase();
  if (!SUBJECT.test(subject)) throw new TypeError('must be subjects/<uuid>');
  if (subject === SELF) throw new TypeError('is your own organisation: name its people with user_attributes');
  return subject;
}

/**
 * Returns every key by which policies of its own tenancy can name the principal. `subject` names no member, because the
 * identity provider chooses its members' subjects and could choose the id of an application.
 */
export function keysOf(principal: Principal): PrincipalKey[] {
  const { kind, subject, email, claims, groups } = principal;
  return [
    ...(kind === 'member' ? [] : [`subject=${subject}`]),
    ...(email === '' ? [] : [emailKey(email)]),
    ...Object.entries(claims).map(([claim, value]) => `jwt_${claim}=${value}`),
    ...(groups ?? []).map(groupKey),
  ].filter((key) => key.length <= MAX_PRINCIPAL_KEY);
}

/** Addresses are compared without regard to upper and lower case. */
function emailKey(address: string): PrincipalKey {
  return `email=${address.toLowerCase()}`;
}

function groupKey(name: string): PrincipalKey {
  return `group:${name}`;
}
