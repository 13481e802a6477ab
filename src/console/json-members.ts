/** An object as the service answers it. */
export type Json = Readonly<Record<string, unknown>>;

/** A member of an object; undefined of anything else, and of what the object only inherits. */
export const memberOf = (of: unknown, name: string): unknown =>
  typeof of === 'object' && of !== null && Object.hasOwn(of, name) ? (of as Json)[name] : undefined;

/** A value for a reader: a text as it is, anything else as JSON. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** The text for a name, if there is one for it. */
export function known(names: Readonly<Record<string, string>>, name: unknown): string | undefined {
  return typeof name === 'string' && Object.hasOwn(names, name) ? names[name] : undefined;
}
