import { openAttemptLimiter } from '../../platform/attempt-limiter.js';
import type { Clock } from '../../platform/clock.js';
import { type Feature, HOUSEKEEPING_ROLES } from '../../platform/feature.js';
import { type InviteDeps, inviteRoutes } from './invite-routes.js';
import { type PurgeInvitesDeps, startPurgeInvitesJob } from './purge-invites-job.js';
import { MOST_INVITES } from './write-invite.js';

interface InviteBase extends Omit<InviteDeps, 'invited'>, Pick<PurgeInvitesDeps, 'backend'> {
  /** Decides which invites expired long ago. */
  readonly rightClock: Clock;
  readonly redisUrl: string | undefined;
}

/** Invites, by both paths that the interface has for them, and the job that deletes those that expired long ago. */
export function openInvites(base: InviteBase): Feature {
  const { redisUrl, logger } = base;
  const invited = openAttemptLimiter({ ...MOST_INVITES, name: 'invite', redisUrl, logger });
  const deps = { ...base, invited };
  return {
    routes: {
      'v1/invites': inviteRoutes(deps, '/archivist/v1/invites', 'Invites'),
      'iam/v1/invites': inviteRoutes(deps, '/archivist/iam/v1/invites', 'IAMInvites'),
    },
    jobs: [{ roles: HOUSEKEEPING_ROLES, start: () => startPurgeInvitesJob({ ...base, clock: base.rightClock }) }],
    close: async () => invited.close(),
  };
}
