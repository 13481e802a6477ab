/** Not a certificate, a certificate with an unsupported rule, or a chain that is not valid. The message says which. */
export class CertificateUnusable extends Error {
  override readonly name = 'CertificateUnusable';
}
