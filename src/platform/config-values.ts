import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { decodeVkey, type NoteKey, NoteKeyType } from '../core/tlog/signed-note.js';
import { parsePkcs11Uri } from './keys/pkcs11/pkcs11-uri.js';
import { parseQuotas } from './quotas.js';

/** A UUID in lower case. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A witness as configured by the operator. */
export interface WitnessAddress {
  readonly key: NoteKey;
  /** Without a trailing slash. */
  readonly url: string;
}

/** A TCP port. */
export const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number')
  .transform(Number)
  .refine((value) => value <= 65535, 'must be a port number');

/** A URL of one of these schemes, given with their colon. */
export function url(schemes: readonly string[]) {
  const allowed = schemes.map((scheme) => `${scheme}//`).join(' or ');
  return z
    .string()
    .refine(
      (text) => URL.canParse(text) && schemes.includes(new URL(text).protocol),
      `must be a URL that begins with ${allowed}`,
    );
}

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

/** Verifier keys and URLs of witnesses. */
export const witnesses = z.string().transform((text, context): readonly WitnessAddress[] =>
  text.split(',').map((each) => {
    const [vkey, address, ...more] = each.trim().split(/\s+/);
    const parsed = baseUrl.safeParse(address ?? '');
    try {
      const key = decodeVkey(vkey ?? '');
      if (parsed.success && more.length === 0 && key.type === NoteKeyType.cosignature) return { key, url: parsed.data };
    } catch {
      // Reported below, with a message for the operator.
    }
    context.addIssue(
      'must be the verifier key and the URL of each witness, with a space between them; separate witnesses by commas',
    );
    return z.NEVER;
  }),
);

/**
 * Whether a witness is listed twice: it would be asked twice and count twice towards the quorum. Sizes are remembered
 * by name.
 */
export function hasTwins(given: readonly WitnessAddress[]): boolean {
  const names = new Set(given.map(({ key }) => key.name));
  const keys = new Set(given.map(({ key }) => key.publicKey.join()));
  return names.size < given.length || keys.size < given.length;
}

/** A folder, given as a file URL. */
export const objectStoreDir = z.string().transform((text, context) => {
  if (text.startsWith('file:///') && URL.canParse(text)) return fileURLToPath(text);
  const s3 = text.startsWith('s3:');
  context.addIssue(s3 ? 's3:// is not supported yet: use file:///…' : 'must be a URL that begins with file:///');
  return z.NEVER;
});

/** Where a ClamAV daemon listens. */
export const clamavUrl = z.string().refine((text) => {
  if (text.startsWith('/')) return true;
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, port, pathname } = new URL(text);
  return protocol === 'tcp:' ? hostname !== '' && port !== '' : protocol === 'unix:' && pathname.length > 1;
}, 'must be tcp://host:port or the path of a socket');

/** A token in a PKCS #11 module. The error never quotes the value, because it may contain a PIN. */
export const keyProvider = z.string().transform((text, context) => {
  try {
    return parsePkcs11Uri(text);
  } catch (error) {
    context.addIssue(error instanceof TypeError ? error.message : 'must be a PKCS #11 URI');
    return z.NEVER;
  }
});

/** Limits per tenancy, by name. */
export const quotas = z.string().transform((text, context) => {
  const parsed = parseQuotas(text);
  if (parsed) return parsed;
  context.addIssue('must be name=number or name=unlimited, separated by commas');
  return z.NEVER;
});

/** When a job runs. */
export const cronPattern = z.string().regex(/^\S+( \S+){4,5}$/, 'must be a cron pattern of five or six fields');

/** One address, without a display name. */
export const emailAddress = z
  .string()
  .max(254)
  .regex(/^[^\s<>@,;]+@[^\s<>@,;]+$/, 'must be one e-mail address');
