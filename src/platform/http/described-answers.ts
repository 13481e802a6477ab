/** What each status means, in the documents that describe the interface. */
export const STATUS_MEANINGS: Readonly<Record<number, string>> = {
  200: 'Success',
  201: 'Created',
  202: 'Still under way; ask again',
  206: 'More entries match than the server limit',
  302: 'Still under way; ask again at the location',
  303: 'Accepted; ask at the location',
  304: 'Not changed',
  400: 'The request is badly formed; the description names the field',
  401: 'No valid access token',
  402: 'A quota is reached',
  403: 'The caller may not do this',
  404: 'No such resource, or none that the caller may see',
  405: 'Another method is needed',
  409: 'The resource is in another state',
  413: 'The body is too large',
  415: 'The body has a type or an encoding that is not understood',
  416: 'The range lies outside the file',
  422: 'The idempotency key was used with another body',
  429: 'Too many requests',
  500: 'The service failed',
  503: 'Not able to answer now; try again',
};

/** The body of every refusal. */
export const ERROR_SCHEMA: Readonly<Record<string, unknown>> = {
  type: 'object',
  required: ['error', 'description'],
  properties: { error: { type: 'string' }, description: { type: 'string' } },
};

/** `:name` becomes `{name}`, an escaped colon a colon. */
export function documentPath(path: string): string {
  return path.replace(/\\:|[:*](\w+)/g, (_, name?: string) => (name === undefined ? ':' : `{${name}}`));
}
