/** A completed operation on a vCon, as the conserver's configuration names it in the webhook's URL. */
export interface Operation {
  /** With the prefix `vcon_`. */
  readonly name: string;
  readonly chain?: string;
  /** Name of the link instance. */
  readonly link?: string;
  /** Type of the link. */
  readonly linkType?: string;
  /** Tells repetitions of one operation apart, where it may truly repeat. */
  readonly nonce?: string;
}

/** A request does not name an operation. The message says what to correct, and quotes nothing. */
export class OperationError extends Error {
  override readonly name = 'OperationError';
}

const ROUTE = /^\/operations\/([^/]*)$/;
/** No `@`, no `+`, no spaces: an address or a telephone number put here by mistake is refused, not recorded. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const LABEL = /^[A-Za-z0-9_.-]{1,64}$/;
const PREFIX = 'vcon_';

function label(parameters: URLSearchParams, name: string): string | undefined {
  const value = parameters.get(name);
  if (value === null || value === '') return undefined;
  if (!LABEL.test(value)) throw new OperationError(`${name} must be 1 to 64 letters, digits, "_", "-" or "."`);
  return value;
}

/**
 * Reads `/operations/{vcon_operation}?chain=&link=&type=&nonce=`.
 * @param target the request target, path and query
 * @throws {OperationError}
 */
export function readOperation(target: string): Operation {
  const [path = '', query = ''] = target.split('?', 2);
  const segment = ROUTE.exec(path)?.[1];
  if (segment === undefined) throw new OperationError('the path must be /operations/{vcon_operation}');
  if (!NAME.test(segment)) throw new OperationError('the operation must be 1 to 64 letters, digits, "_" or "-"');
  const parameters = new URLSearchParams(query);
  const labels = {
    chain: label(parameters, 'chain'),
    link: label(parameters, 'link'),
    linkType: label(parameters, 'type'),
    nonce: label(parameters, 'nonce'),
  };
  const given = Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== undefined));
  return { name: segment.startsWith(PREFIX) ? segment : PREFIX + segment, ...given };
}
