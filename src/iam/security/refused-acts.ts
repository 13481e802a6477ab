import { openAttemptLimiter } from '../../platform/attempt-limiter.js';
import type { Logger } from '../../platform/logger.js';
import { openLinesPerAddress } from './lines-per-address.js';
import { tellSecurityEvent } from './record-security-event.js';
import type { SecurityAct } from './security-event.js';

/** Refused acts of one caller that are recorded in an hour. */
export const RECORDED_REFUSALS = 20;
const WINDOW_SECONDS = 3_600;
const OVERFLOW = 'Further refusals of this caller are only in the log of the service, for an hour at most.';

/** Bounds what a caller without rights adds to the security audit, of which nothing can be deleted. */
export interface RefusedActs {
  /**
   * Records a refused act with `record`. After twenty of its actor within an hour, of which the last one says so in its
   * details, only writes a line of the log, at most ten a minute. Each process counts by itself.
   * @throws every error of `record`
   */
  keep(act: SecurityAct, record: (act: SecurityAct) => Promise<void>): Promise<void>;
}

export function openRefusedActs(logger: Logger): RefusedActs {
  const rule = { attempts: RECORDED_REFUSALS, seconds: WINDOW_SECONDS, redisUrl: undefined };
  const recorded = openAttemptLimiter({ ...rule, name: 'refused-act', logger });
  const lines = openLinesPerAddress('refused-act-line', logger);
  return {
    async keep(act, record) {
      const actor = `${act.tenantId} ${act.actor.issuer} ${act.actor.subject}`;
      const { shutFor, fills } = await recorded.count(actor);
      if (shutFor === undefined)
        await record(fills ? { ...act, details: { ...act.details, overflow: OVERFLOW } } : act);
      else lines(actor, () => tellSecurityEvent(logger, act));
    },
  };
}
