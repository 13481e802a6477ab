import { acceptedValues } from '../platform/http/accepted-values.js';

/**
 * Returns whether an `Accept` header allows JSON and none of the forms that SCITT clients read (RFC 9110 section
 * 12.5.1). Stock clients read CBOR and send the same `Accept` as any other client.
 */
export function asksForJson(accept?: string): boolean {
  const types = acceptedValues(accept);
  const isOther = (type: string) => type.includes('*') || type.endsWith('/cbor') || type.endsWith('/cose');
  return types.includes('application/json') && !types.some(isOther);
}
