/** What a certificate is to be used for, and what it has to say for that. */
export interface Purpose {
  /** The use, in a refusal: "the certificate is not for …". */
  readonly use: string;
  /** Bits of the key usage, one of which it must have where there is a key usage. */
  readonly keyUsages: readonly number[];
  /** Object identifiers of extended key usages, one of which it must have where there is an extended key usage. */
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

/** A statement is signed as code and documents are; a certificate that is only for a server's name signs none. */
export const STATEMENT_SIGNER: Purpose = {
  use: 'signing statements',
  keyUsages: [KeyUsage.digitalSignature],
  purposes: [ANY_PURPOSE, CODE_SIGNING, MAIL_PROTECTION, DOCUMENT_SIGNING],
  purposeRequired: false,
};

/** A certificate that is for anything is for nothing here: it has to name the purpose. */
export const TLS_CLIENT: Purpose = {
  use: 'TLS clients',
  keyUsages: [KeyUsage.digitalSignature, KeyUsage.keyAgreement],
  purposes: [CLIENT_AUTHENTICATION],
  purposeRequired: true,
};
