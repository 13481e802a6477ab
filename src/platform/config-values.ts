import { z } from 'zod';

/** A UUID in lower case. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A number, written in this form. */
export const numeric = (form: RegExp, refusal: string) => z.string().regex(form, refusal).transform(Number);

/** The id of an application. */
export const clientId = z.string().toLowerCase().regex(UUID, 'must be a UUID');

/** A whole number, 1 or more, of so many digits at most. @param what what is counted, for the error */
export const countOf = (what: string, mostDigits: number) =>
  z
    .string()
    .regex(
      new RegExp(`^[1-9]\\d{0,${mostDigits - 1}}$`),
      `must be a whole number of ${what}, from 1 to ${'9'.repeat(mostDigits)}`,
    )
    .transform(Number);

/** A TCP port. */
export const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number, from 0 to 65535')
  .transform(Number)
  .refine((value) => value <= 65535, 'must be a port number, from 0 to 65535');

/** `h1,h2:5433` is one host for a URL, which nobody has; the drivers connect to one. */
const isList = (host: string | null) => host?.includes(',') === true;

/** A URL of one of these schemes, given with their colon. */
export function url(schemes: readonly string[]) {
  const allowed = schemes.map((scheme) => `${scheme}//`);
  const hasScheme = (text: string) =>
    URL.canParse(text) ? schemes.includes(new URL(text).protocol) : allowed.some((begin) => text.startsWith(begin));
  return z
    .string()
    .refine(hasScheme, `must be a URL that begins with ${allowed.join(' or ')}`)
    .refine(
      (text) => !hasScheme(text) || URL.canParse(text),
      'must be a URL with one host. Write special characters in its user name and password percent-encoded, such as # as %23 and / as %2F',
    )
    .refine(
      (text) => !URL.canParse(text) || !isList(new URL(text).hostname),
      'must have one host, not a list of hosts: name an address that leads to the one to use',
    );
}

/** The driver of PostgreSQL ignores parameters that it does not know: with a misspelt one it would not use TLS. */
const TLS_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'ssl'];

/** A URL of a PostgreSQL database. */
export const postgresUrl = url(['postgres:', 'postgresql:'])
  .refine(
    (text) =>
      !URL.canParse(text) ||
      [...new URL(text).searchParams.keys()].every((name) => !/ssl|tls/i.test(name) || TLS_PARAMETERS.includes(name)),
    `must have no parameter about TLS but ${TLS_PARAMETERS.join(', ')}: others have no effect`,
  )
  .refine(
    (text) => !URL.canParse(text) || !isList(new URL(text).searchParams.get('host')),
    'must have one host, not a list of hosts: name an address that leads to the primary',
  );

/** A base URL without a trailing slash, so that paths can be appended. */
export const baseUrl = url(['http:', 'https:'])
  .refine((text) => !/[?#@]/.test(text), 'must have no query, fragment or user')
  .transform((text) => text.replace(/\/+$/, ''));

/** Origins as browsers send them, separated by commas. */
export const origins = z
  .string()
  .transform((text) => text.split(',').map((each) => each.trim()))
  .refine(
    (given) => given.every((each) => URL.canParse(each) && new URL(each).origin === each),
    'must be origins such as https://app.example, separated by commas',
  );

/** Where a ClamAV daemon listens. */
export const clamavUrl = z.string().refine((text) => {
  if (text.startsWith('/')) return true;
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, port, pathname } = new URL(text);
  return protocol === 'tcp:' ? hostname !== '' && port !== '' : protocol === 'unix:' && pathname.length > 1;
}, 'must be tcp://host:port or the path of a socket');

/** When a job runs. */
export const cronPattern = z.string().regex(/^\S+( \S+){4,5}$/, 'must be a cron pattern of five or six fields');

export const cronPatternOrOff = z
  .string()
  .regex(/^(off|\S+( \S+){4,5})$/, 'must be a cron pattern of five or six fields, or off');

/** One address, without a display name. */
export const emailAddress = z
  .string()
  .max(254)
  .regex(/^[^\s<>@,;]+@[^\s<>@,;]+$/, 'must be one e-mail address');
