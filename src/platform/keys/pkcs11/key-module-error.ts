/** The module that has the keys cannot be used, now or as it is configured; the message is for the operator. */
export class KeyModuleError extends Error {
  override readonly name = 'KeyModuleError';

  constructor(
    what: string,
    /** CKR_…, or a number for what a vendor has added, when a call to the module answered it. */
    readonly code?: string,
  ) {
    super(`KEY_PROVIDER: ${what}`);
  }
}
