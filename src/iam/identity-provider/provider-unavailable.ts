/** A provider gave no answer that can be used, so nothing can be said of a token that it may have signed. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';

  constructor(options: { readonly cause: unknown }) {
    super('the identity provider gives no usable keys', options);
  }
}
