/** The key module cannot be used, now or as configured; the message is for the operator. */
export class KeyModuleError extends Error {
  override readonly name = 'KeyModuleError';

  constructor(
    what: string,
    /** CKR_…, or a number for a vendor's code, if a call to the module returned it. */
    readonly code?: string,
  ) {
    super(`KEY_PROVIDER: ${what}`);
  }
}
