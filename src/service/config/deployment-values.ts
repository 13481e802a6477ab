import { z } from 'zod';
import { parseQuotas, QUOTA_NAMES } from '../../iam/tenancies/quotas.js';
import { parsePkcs11Uri } from '../../platform/keys/pkcs11/pkcs11-uri.js';

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
