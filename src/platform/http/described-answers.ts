/** What each status means, in the documents that describe the interface. */
export const STATUS_MEANINGS: Readonly<Record<number, string>> = {
  200: 'Success',
  201: 'Created',
  202: 'Still in progress; request it again later',
  206: 'More entries match than the server limit, or the total was not counted to the end',
  302: 'Request the `location` next, after the seconds in `retry-after` if the response has it',
  303: 'Accepted; request the location for the result',
  304: 'Not changed',
  400: 'The request is malformed; the description names the field',
  401: 'No valid access token',
  402: 'A quota is reached',
  403: 'The caller is not permitted to do this',
  404: 'The resource does not exist, or the caller is not permitted to see it',
  405: 'The path does not support this method',
  409: 'The state of the resource does not allow this',
  410: 'No longer available',
  413: 'The body is too large',
  415: 'The type or encoding of the body is unsupported',
  416: 'The range is outside the file',
  422: 'The idempotency key was used with another body',
  429: 'Too many requests',
  500: 'The service failed',
  503: 'Temporarily unable to answer; try again',
  507: 'A disk is full; try again when the operator has made room',
};

/** The body of every refusal. */
export const ERROR_SCHEMA: Readonly<Record<string, unknown>> = {
  type: 'object',
  required: ['error', 'description'],
  properties: { error: { type: 'string' }, description: { type: 'string' } },
};

/** `:name` becomes `{name}`; an escaped colon becomes a colon. */
export function documentPath(path: string): string {
  return path.replace(/\\:|[:*](\w+)/g, (_, name?: string) => (name === undefined ? ':' : `{${name}}`));
}
