/** Attributes that cannot be hashed in the same way in every language. */
export class AttributeError extends Error {
  override readonly name = 'AttributeError';
  /** Where in the attributes: names joined by dots, list places in brackets. */
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(`${path}: ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}

/** The most levels of nested objects and lists; the attributes themselves are the first level. */
export const MAX_ATTRIBUTE_DEPTH = 16;
/** The most names and list members in all. */
export const MAX_ATTRIBUTE_VALUES = 4096;
const MAX_NAME_LENGTH = 1024;
const UNHASHABLE = /\0|\p{Surrogate}/u;

interface Budget {
  left: number;
}

function checkText(text: string, path: string, what: string): void {
  if (UNHASHABLE.test(text)) throw new AttributeError(path, `${what} must not contain U+0000 or a lone surrogate`);
}

function checkName(name: string, path: string): void {
  if (name.length > MAX_NAME_LENGTH)
    throw new AttributeError(path, `a name has at most ${MAX_NAME_LENGTH} UTF-16 units`);
  checkText(name, path, 'a name');
}

function spend(budget: Budget, count: number, path: string): void {
  budget.left -= count;
  if (budget.left < 0) throw new AttributeError(path, `there are more than ${MAX_ATTRIBUTE_VALUES} values in all`);
}

function cleaned(value: unknown, path: string, depth: number, budget: Budget): unknown {
  if (typeof value === 'string') {
    checkText(value, path, 'a text');
    return value;
  }
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    throw new AttributeError(path, `is a ${typeof value === 'boolean' ? 'boolean' : 'number'}; send it as a string`);
  if (typeof value !== 'object' || value === null)
    throw new AttributeError(path, 'is neither a string, an object nor a list');
  if (depth > MAX_ATTRIBUTE_DEPTH)
    throw new AttributeError(path, `is nested deeper than ${MAX_ATTRIBUTE_DEPTH} levels`);
  if (Array.isArray(value)) {
    spend(budget, value.length, path);
    return value.flatMap((member, place) =>
      member === null || member === undefined ? [] : [cleaned(member, `${path}[${place}]`, depth + 1, budget)],
    );
  }
  const names = Object.keys(value);
  spend(budget, names.length, path);
  const kept: [string, unknown][] = [];
  for (const name of names) {
    checkName(name, path);
    const member = (value as Record<string, unknown>)[name];
    if (typeof member === 'string' && !UNHASHABLE.test(member)) kept.push([name, member]);
    else if (member !== null && member !== undefined)
      kept.push([name, cleaned(member, `${path}.${name}`, depth + 1, budget)]);
  }
  return Object.fromEntries(kept);
}

/**
 * Returns attributes as they may be stored, hashed and served: a copy of the strings, objects and lists, without nulls.
 * @param path the field's name, with which every path in an error begins
 * @throws {AttributeError} for a number or boolean, for U+0000 or a lone surrogate in a text or name, and above the
 * limits
 */
export function checkAttributes(value: unknown, path: string): unknown {
  return cleaned(value, path, 1, { left: MAX_ATTRIBUTE_VALUES });
}
