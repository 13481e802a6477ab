import { z } from 'zod';
import { decodeVkey, type NoteKey, NoteKeyType } from '../../core/tlog/signed-note.js';
import { parseQuotas, QUOTA_NAMES } from '../../iam/tenancies/quotas.js';
import { baseUrl, UUID } from '../../platform/config-values.js';
import { parsePkcs11Uri } from '../../platform/keys/pkcs11/pkcs11-uri.js';

/** A number, written in this form. */
export const numeric = (form: RegExp, refusal: string) => z.string().regex(form, refusal).transform(Number);

/** The id of an application. */
export const clientId = z.string().toLowerCase().regex(UUID, 'must be a UUID').optional();

/** The secret of an application. */
export const clientSecret = z.string().min(32, 'must have at least 32 characters').optional();

/** A witness as configured by the operator. */
export interface WitnessAddress {
  readonly key: NoteKey;
  /** Without a trailing slash. */
  readonly url: string;
}

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
  context.addIssue(
    `must be name=number or name=unlimited, separated by commas; the names are ${QUOTA_NAMES.join(', ')}`,
  );
  return z.NEVER;
});
