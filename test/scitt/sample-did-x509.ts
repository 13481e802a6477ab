import { createHash } from 'node:crypto';
import type { SampleCertificate } from './sample-certificate.js';

/** A did:x509 of version 0 for certificates below an authority; the policies are written as the name has them. */
export function didX509(authority: SampleCertificate, ...policies: string[]): string {
  const fingerprint = createHash('sha256').update(authority.der).digest('base64url');
  return [`did:x509:0:sha256:${fingerprint}`, ...policies].join('::');
}
