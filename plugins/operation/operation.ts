import { looksPersonal } from './looks-personal.js';
import { reportedName, vocabularyName } from './operation-vocabulary.js';

/** A completed operation on a vCon, as the conserver's configuration names it. */
export interface Operation {
  /** The lifecycle draft's term if it has one; with the prefix `vcon_`. */
  readonly name: string;
  /** The reported name, if it differs. */
  readonly reported?: string;
  readonly chain?: string;
  /** Name of the link instance. This, the chain and the type may be any text: see `withRecordedLabels`. */
  readonly link?: string;
  /** Type of the link. */
  readonly linkType?: string;
  /** The tenancy that it is delivered for; undefined is the plugin's own client. */
  readonly tenancy?: string;
  /** Distinguishes repetitions of an operation that may really happen more than once. */
  readonly nonce?: string;
}

/** The labels of an operation, as given by the caller. */
type OperationLabels = Partial<Record<(typeof LABELS)[number], string | null | undefined>>;

const LABELS = ['chain', 'link', 'linkType', 'tenancy', 'nonce'] as const;

/** A request does not name an operation correctly. The message says what to correct, and quotes nothing. */
export class OperationError extends Error {
  override readonly name = 'OperationError';
}

const ROUTE = /^(?:\/tenancies\/([^/]+))?(?:\/chains\/([^/]+))?(?:\/links\/([^/]+))?\/operations\/([^/]*)\/?$/;
/** An operation's name is recorded unchanged, so this form excludes addresses and telephone numbers. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** The name of a tenancy, which is looked up in a file. */
const TENANCY = /^[A-Za-z0-9_.-]{1,64}$/;
/** A longer label is a whole document that was put there by mistake. */
const MAX_LABEL_LENGTH = 4_096;

/** The name of a label in a query. */
const parameterOf = (label: (typeof LABELS)[number]): string => (label === 'linkType' ? 'type' : label);

function checkedLabel(name: string, values: readonly (string | null | undefined)[]): string | undefined {
  const given = [...new Set(values.filter((value) => value !== null && value !== undefined && value !== ''))];
  if (given.length > 1) throw new OperationError(`${name} is given twice with different values`);
  const [value] = given;
  if (value === undefined || value === null) return undefined;
  if (name === 'tenancy' && !TENANCY.test(value))
    throw new OperationError('tenancy must be 1 to 64 letters, digits, "_", "-" or "."');
  // Two nonces with one beginning would become one operation; a label is only a name.
  if (name === 'nonce' && value.length > MAX_LABEL_LENGTH)
    throw new OperationError(`nonce must have ${MAX_LABEL_LENGTH} characters or fewer`);
  return value.slice(0, MAX_LABEL_LENGTH);
}

/**
 * The operation with this name and these labels; where several places give a label, they must agree.
 * @throws {OperationError}
 */
export function namedOperation(text: string, ...places: readonly OperationLabels[]): Operation {
  if (!NAME.test(text)) throw new OperationError('the operation must be 1 to 64 letters, digits, "_" or "-"');
  if (looksPersonal(text)) throw new OperationError('the operation must be a name, not a number');
  const reported = reportedName(text);
  const name = vocabularyName(reported);
  const labels = LABELS.flatMap((label) => {
    const value = checkedLabel(
      parameterOf(label),
      places.map((place) => place[label]),
    );
    return value === undefined ? [] : [[label, value] as const];
  });
  return { name, ...(name === reported ? {} : { reported }), ...Object.fromEntries(labels) };
}

function header(headers: Readonly<Record<string, string | string[] | undefined>>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** The labels in a query; one that is given twice comes twice. */
function queryLabels(query: string): OperationLabels[] {
  const parameters = new URLSearchParams(query);
  // A misspelt label would be an operation without it.
  const known = LABELS.map(parameterOf);
  if ([...parameters.keys()].some((name) => !known.includes(name)))
    throw new OperationError(`the query has a parameter that is not one of ${known.join(', ')}`);
  return LABELS.flatMap((label) => parameters.getAll(parameterOf(label)).map((value) => ({ [label]: value })));
}

function unescaped(segment: string | undefined): string | undefined {
  try {
    return segment === undefined ? undefined : decodeURIComponent(segment);
  } catch {
    throw new OperationError('the path has an invalid percent-encoding');
  }
}

/**
 * Reads `/operations/{vcon_operation}`, optionally after `/tenancies/{tenancy}`, `/chains/{chain}` and `/links/{link}`.
 * Tenancy, chain, link, type and nonce may also be in the query, which may contain nothing else, or in headers
 * `x-vcon-…`.
 * @param target the request target, path and query
 * @throws {OperationError}
 */
export function readOperation(
  target: string,
  headers: Readonly<Record<string, string | string[] | undefined>> = {},
): Operation {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  // Addresses are often a base with a slash and a path with another.
  const route = ROUTE.exec(path.replace(/\/+/g, '/'));
  if (!route)
    throw new OperationError(
      'the path must be /operations/{vcon_operation}, or /chains/{chain}/links/{link}/operations/{vcon_operation}',
    );
  const [, tenancy, chain, link, name = ''] = route;
  return namedOperation(
    name,
    { tenancy: unescaped(tenancy), chain: unescaped(chain), link: unescaped(link) },
    ...(mark < 0 ? [] : queryLabels(target.slice(mark + 1))),
    {
      tenancy: header(headers, 'x-vcon-tenancy'),
      chain: header(headers, 'x-vcon-chain'),
      link: header(headers, 'x-vcon-link'),
      linkType: header(headers, 'x-vcon-link-type'),
      nonce: header(headers, 'x-vcon-nonce'),
    },
  );
}
