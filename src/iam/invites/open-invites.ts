import { openAttemptLimiter } from '../../platform/attempt-limiter.js';
import type { Feature } from '../../platform/feature.js';
import { type InviteDeps, inviteRoutes } from './invite-routes.js';
import { MOST_INVITES } from './write-invite.js';

/** Invites, by both paths that the interface has for them. */
export function openInvites(base: Omit<InviteDeps, 'invited'> & { readonly redisUrl: string | undefined }): Feature {
  const { redisUrl, logger } = base;
  const invited = openAttemptLimiter({ ...MOST_INVITES, name: 'invite', redisUrl, logger });
  const deps = { ...base, invited };
  return {
    routes: {
      'v1/invites': inviteRoutes(deps, '/archivist/v1/invites', 'Invites'),
      'iam/v1/invites': inviteRoutes(deps, '/archivist/iam/v1/invites', 'IAMInvites'),
    },
    close: async () => invited.close(),
  };
}
