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
  /** Whether the subscriber's own certificate must have an extended key usage. */
  readonly purposeRequired: boolean;
}

/** Bits of a key usage from the left (RFC 5280 section 4.2.1.3). */
export const KeyUsage = { digitalSignature: 0, keyAgreement: 4, certificateSign: 5, crlSign: 6 } as const;

const ANY_PURPOSE = '2.5.29.37.0';
const CLIENT_AUTHENTICATION = '1.3.6.1.5.5.7.3.2';
const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';
const MAIL_PROTECTION = '1.3.6.1.5.5.7.3.4';
const DOCUMENT_SIGNING = '1.3.6.1.5.5.7.3.36';

/** Statements are signed like code and documents; a certificate that is only for a server's name cannot sign them. */
export const STATEMENT_SIGNER: Purpose = {
  use: 'signing statements',
  keyUsages: [KeyUsage.digitalSignature],
  purposes: [ANY_PURPOSE, CODE_SIGNING, MAIL_PROTECTION, DOCUMENT_SIGNING],
  purposeRequired: false,
};

/** A certificate for any purpose is not enough here: it must name this purpose. */
export const TLS_CLIENT: Purpose = {
  use: 'TLS clients',
  keyUsages: [KeyUsage.digitalSignature, KeyUsage.keyAgreement],
  purposes: [CLIENT_AUTHENTICATION],
  purposeRequired: true,
};
