import type { Feature } from '../../platform/feature.js';
import { type TlsCaCertificateRouteDeps, tlsCaCertificateRoutes } from './tls-ca-certificate-routes.js';

export function openTlsCaCertificates(base: TlsCaCertificateRouteDeps): Feature {
  return { routes: { 'v1/tlscacertificates': tlsCaCertificateRoutes(base) } };
}
