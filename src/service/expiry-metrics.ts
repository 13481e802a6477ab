import { Gauge, type Registry } from 'prom-client';

/** What expires unless somebody renews it. */
export interface ExpiryMetrics {
  /** Number of applications whose last secret expires within thirty days. */
  expiringSecrets(applications: number): void;
  /** The certificate of the TLS listener expires then. */
  tlsCertificateExpires(atMs: number): void;
}

/** Declares the metrics in this registry. */
export function createExpiryMetrics(registry: Registry): ExpiryMetrics {
  const registers = [registry];
  const expiring = new Gauge({
    name: 'archivist_expiring_credentials',
    help: 'Applications whose last credential expires within thirty days, as counted once a day',
    registers,
  });
  const tlsExpires = new Gauge({
    name: 'archivist_tls_certificate_expires_timestamp_seconds',
    help: 'When the certificate of the TLS listener expires; 0 without one',
    registers,
  });
  return {
    expiringSecrets: (applications) => expiring.set(applications),
    tlsCertificateExpires: (atMs) => tlsExpires.set(atMs / 1000),
  };
}
