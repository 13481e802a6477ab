import { collectDefaultMetrics, Registry } from 'prom-client';
import { createExpiryMetrics, type ExpiryMetrics } from './expiry-metrics.js';
import { createIntegrityMetrics, type IntegrityMetrics } from './integrity-metrics.js';
import { createLogMetrics, type LogMetrics } from './log-metrics.js';
import { createMachineMetrics, type MachineMetrics } from './machine-metrics.js';
import { createOutsideMetrics, type OutsideMetrics } from './outside-metrics.js';
import { createRequestMetrics, type RequestMetrics } from './request-metrics.js';

/** Where the parts of the service report what they did. Every metric is declared in the file of its group. */
export interface Metrics
  extends RequestMetrics,
    LogMetrics,
    IntegrityMetrics,
    ExpiryMetrics,
    MachineMetrics,
    OutsideMetrics {
  /** All metrics in the Prometheus text format, with its content type. */
  readonly registry: Registry;
}

/** Returns a new registry with the metrics of Node.js and of all groups. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    ...createRequestMetrics(registry),
    ...createLogMetrics(registry),
    ...createIntegrityMetrics(registry),
    ...createExpiryMetrics(registry),
    ...createMachineMetrics(registry),
    ...createOutsideMetrics(registry),
  };
}
