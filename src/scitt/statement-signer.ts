import { ExtendedKeyUsage, KeyUsage, type Purpose } from '../platform/x509/purpose.js';

/** Statements are signed like code and documents; a certificate that is only for a server's name cannot sign them. */
export const STATEMENT_SIGNER: Purpose = {
  use: 'signing statements',
  keyUsages: [KeyUsage.digitalSignature],
  purposes: [
    ExtendedKeyUsage.anyExtendedKeyUsage,
    ExtendedKeyUsage.codeSigning,
    ExtendedKeyUsage.emailProtection,
    ExtendedKeyUsage.documentSigning,
  ],
};
