import type { Feature } from '../../platform/feature.js';
import { type InviteDeps, inviteRoutes } from './invite-routes.js';

/** Invites, by both paths that the interface has for them. */
export function openInvites(base: InviteDeps): Feature {
  return {
    routes: {
      'v1/invites': inviteRoutes(base, '/archivist/v1/invites', 'Invites'),
      'iam/v1/invites': inviteRoutes(base, '/archivist/iam/v1/invites', 'IAMInvites'),
    },
  };
}
