/** True if the caller of a list wants the exact number of entries, however long counting takes. */
export function wantsExactTotal(headers: Readonly<Record<string, string | undefined>>): boolean {
  return headers['x-request-total-count']?.toLowerCase() === 'true';
}
