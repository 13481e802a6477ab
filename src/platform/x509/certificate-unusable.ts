/** No certificate, one with a rule that is not understood, or a chain that does not hold. The message says which. */
export class CertificateUnusable extends Error {
  override readonly name = 'CertificateUnusable';
}
