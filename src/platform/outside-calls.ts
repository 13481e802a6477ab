import type { Logger } from './logger.js';
import { publicReason } from './public-reason.js';

/** A service outside this process that a deployment depends on. */
const OUTSIDE_SERVICES = [
  'database',
  'queue',
  'object_store',
  'key_module',
  'witness',
  'identity_provider',
  'scanner',
  'mail',
] as const;

export type OutsideService = (typeof OUTSIDE_SERVICES)[number];

/** The state of one service. */
export interface OutsideState {
  readonly service: OutsideService;
  /** Since when its calls fail, in Unix milliseconds; undefined while they succeed. */
  readonly failingSinceMs: number | undefined;
  /** Why the last one failed, for anybody (`publicReason`). */
  readonly reason?: string | undefined;
}

/** Knows which services outside this process answer. */
export interface OutsideCalls {
  /** Resolves as the call does, and records whether it failed. @throws the error of the call */
  record<T>(service: OutsideService, call: Promise<T>): Promise<T>;
  /** Records a call that was made elsewhere. */
  report(service: OutsideService, error: Error | undefined): void;
  /** The services that were called, in a fixed order. */
  states(): readonly OutsideState[];
}

/**
 * @param parts.failed called with each failed call
 * @param parts.changed called when a service stops to answer, and when it answers again (undefined)
 */
export function createOutsideCalls(parts: {
  readonly now: () => number;
  readonly logger: Logger;
  readonly failed: (service: OutsideService) => void;
  readonly changed: (service: OutsideService, failingSinceMs: number | undefined) => void;
}): OutsideCalls {
  const { now, logger } = parts;
  const known = new Map<OutsideService, OutsideState>();

  function succeeded(service: OutsideService): void {
    const before = known.get(service);
    if (before && before.failingSinceMs === undefined) return;
    if (before) logger.info({ service }, 'an outside service works again');
    known.set(service, { service, failingSinceMs: undefined });
    parts.changed(service, undefined);
  }

  function failed(service: OutsideService, error: unknown): void {
    parts.failed(service);
    logger.warn({ err: error, service }, 'a call to an outside service failed');
    const before = known.get(service)?.failingSinceMs;
    const failingSinceMs = before ?? now();
    known.set(service, { service, failingSinceMs, reason: publicReason(error) });
    if (before === undefined) parts.changed(service, failingSinceMs);
  }

  return {
    async record(service, call) {
      try {
        const answer = await call;
        succeeded(service);
        return answer;
      } catch (error) {
        failed(service, error);
        throw error;
      }
    },
    report: (service, error) => (error ? failed(service, error) : succeeded(service)),
    states: () => OUTSIDE_SERVICES.flatMap((service) => known.get(service) ?? []),
  };
}
