/** What a certificate is used for, and the extensions that this requires. */
export interface Purpose {
  /** The use, in a refusal: "the certificate is not for …". */
  readonly use: string;
  /** Bits of the key usage; if the certificate has a key usage, it must have one of them. */
  readonly keyUsages: readonly number[];
  /**
   * Object identifiers of extended key usages; if the certificate has an extended key usage, it must have one of them.
   */
  readonly purposes: readonly string[];
}

/** Bits of a key usage from the left (RFC 5280 section 4.2.1.3). */
export const KeyUsage = { digitalSignature: 0, keyAgreement: 4, certificateSign: 5, crlSign: 6 } as const;

/** Object identifiers of extended key usages (RFC 5280 section 4.2.1.12, RFC 9336), by names that a refusal shows. */
export const ExtendedKeyUsage = {
  anyExtendedKeyUsage: '2.5.29.37.0',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  documentSigning: '1.3.6.1.5.5.7.3.36',
} as const;

/**
 * As OpenSSL judges a client: `anyExtendedKeyUsage` is not enough, but a certificate need not have extended key usages. The
 * original's own script makes clients' certificates of version 1, which have no extensions.
 */
export const TLS_CLIENT: Purpose = {
  use: 'TLS clients',
  keyUsages: [KeyUsage.digitalSignature, KeyUsage.keyAgreement],
  purposes: [ExtendedKeyUsage.clientAuth],
};
