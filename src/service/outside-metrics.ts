import { Counter, Gauge, type Registry } from 'prom-client';
import type { OutsideService } from '../platform/outside-calls.js';

/** Calls to services outside this process. */
export interface OutsideMetrics {
  /** A call to a service outside this process failed. */
  outsideFailed(service: OutsideService): void;
  /** Since when calls to it fail, in Unix milliseconds; undefined: it answers. */
  outsideChanged(service: OutsideService, failingSinceMs: number | undefined): void;
  /** A witness did not give its cosignature, or not in time. */
  witnessFailed(witness: string): void;
  /** Number of identity providers of tenancies whose last call failed. */
  identityProvidersFailing(providers: number): void;
  /** Number of webhook deliveries that were given up. */
  webhooksSetAside(deliveries: number): void;
}

/** Declares the metrics in this registry. */
export function createOutsideMetrics(registry: Registry): OutsideMetrics {
  const registers = [registry];
  const outsideFailures = new Counter({
    name: 'archivist_outside_failures_total',
    help: 'Failed calls to an outside service: database, queue, object_store, key_module, witness, identity_provider, scanner, mail',
    labelNames: ['service'],
    registers,
  });
  const witnessFailures = new Counter({
    name: 'archivist_witness_failures_total',
    help: 'Requests to a witness that did not bring its cosignature, or not in time, by its name',
    labelNames: ['witness'],
    registers,
  });
  const providersFailing = new Gauge({
    name: 'archivist_identity_providers_failing',
    help: "Identity providers of tenancies whose last call from this process failed; their tenancies' people cannot sign in",
    registers,
  });
  const outsideFailing = new Gauge({
    name: 'archivist_outside_failing_since_timestamp_seconds',
    help: 'Since when every call to an outside service has failed; 0 while it works',
    labelNames: ['service'],
    registers,
  });
  const setAside = new Gauge({
    name: 'archivist_webhook_deliveries_set_aside',
    help: 'Webhook deliveries that were given up after three days, in all tenancies; replayed by an Owner or deleted after thirty days',
    registers,
  });
  return {
    outsideFailed: (service) => outsideFailures.inc({ service }),
    outsideChanged: (service, sinceMs) => outsideFailing.set({ service }, (sinceMs ?? 0) / 1000),
    witnessFailed: (witness) => witnessFailures.inc({ witness }),
    identityProvidersFailing: (providers) => providersFailing.set(providers),
    webhooksSetAside: (deliveries) => setAside.set(deliveries),
  };
}
