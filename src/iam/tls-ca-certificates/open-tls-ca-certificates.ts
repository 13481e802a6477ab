import type { Feature } from '../../platform/feature.js';
import type { Quotas } from '../tenancies/quotas.js';
import { type TlsCaCertificateRouteDeps, tlsCaCertificateRoutes } from './tls-ca-certificate-routes.js';

export function openTlsCaCertificates(
  base: Omit<TlsCaCertificateRouteDeps, 'quotas'>,
  { quotas }: { readonly quotas: Quotas },
): Feature {
  return { routes: { 'v1/tlscacertificates': tlsCaCertificateRoutes({ ...base, quotas }) } };
}
