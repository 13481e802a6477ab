const BRACKETS = /^((?:(?!attributes)[a-z]+[_.])?attributes)((?:\[[^[\]]+\])+)(!?)$/;

/**
 * Returns the name of a filter by attribute in the form with dots: `attributes.a.b` for `attributes[a][b]`, which clients
 * of the original's OpenAPI documents send. A `!` at the end stays. Any other name is returned as it is.
 */
export function dottedName(name: string): string {
  return name.replace(
    BRACKETS,
    (_, prefix: string, keys: string, not: string) => `${prefix}.${keys.slice(1, -1).replaceAll('][', '.')}${not}`,
  );
}
