import type { Principal } from '../../platform/http/principal.js';

/**
 * `event_type` of the asset-free events that are a tenancy's security audit. Only the service writes it; ordinary requests
 * with it are refused, and searches leave it out.
 */
export const SECURITY_EVENT_TYPE = 'arc_security_event';

/** `created_by` of these events: no token has an empty issuer, so nobody counts as their creator. */
export const SECURITY_EVENT_CREATOR = { issuer: '', subject: 'Archivist Internal' } as const;

/** The acting party: token issuer and subject, or what is known of the party that tried. */
interface Actor {
  readonly issuer: string;
  readonly subject: string;
  readonly displayName: string;
}

/** The person or program that runs the deployment: above the tenancies and a member of none. */
export const OPERATOR: Actor = { issuer: '', subject: 'operator', displayName: 'Operator' };

/** The service itself, for what it does by a schedule. */
export const SERVICE: Actor = { ...SECURITY_EVENT_CREATOR, displayName: SECURITY_EVENT_CREATOR.subject };

/** A change of permissions, identities or credentials. */
export interface SecurityAct {
  /** Tenancy whose audit it belongs to. */
  readonly tenantId: string;
  readonly actor: Actor;
  /** Resource and verb: `application.create`, `member.deactivate`, `token.lockout`. */
  readonly action: `${string}.${string}`;
  /** Identity of what was changed, such as `applications/<uuid>`. */
  readonly resource: string;
  /** Default `success`. */
  readonly outcome?: 'success' | 'failure';
  /** What an auditor needs next: names, roles, reasons; never a secret. */
  readonly details?: Readonly<Record<string, string | readonly string[]>>;
}

/** The attributes of the event: what the tenancy's log commits to. */
export function securityAttributes(act: Omit<SecurityAct, 'tenantId'>): Record<string, unknown> {
  const { issuer, subject, displayName } = act.actor;
  return {
    action: act.action,
    outcome: act.outcome ?? 'success',
    resource: act.resource,
    actor: { issuer, subject, display_name: displayName },
    details: { ...act.details },
  };
}

/** The actor for a verified token. */
export function actorOf(principal: Omit<Principal, 'roles'>): Actor {
  const { issuer, subject, displayName } = principal;
  return { issuer, subject, displayName };
}
