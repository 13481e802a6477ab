import type { Principal } from '../../platform/http/principal.js';

/**
 * `event_type` of the asset-free events that are a tenancy's security audit. Only the service writes it; ordinary requests
 * with it are refused, and searches leave it out.
 */
export const SECURITY_EVENT_TYPE = 'arc_security_event';

/** `created_by` of these events: nobody's token has an empty issuer, so nobody is their creator. */
export const SECURITY_EVENT_CREATOR = { issuer: '', subject: 'Archivist Internal' } as const;

/** Who acted: token issuer and subject, or as much as is known of who tried. */
export interface Actor {
  readonly issuer: string;
  readonly subject: string;
  readonly displayName: string;
}

/** Who runs the deployment: above the tenancies, a member of none. */
export const OPERATOR: Actor = { issuer: '', subject: 'operator', displayName: 'Operator' };

/** Something that was done to who may do what. */
export interface SecurityAct {
  /** Tenancy whose audit it belongs to. */
  readonly tenantId: string;
  readonly actor: Actor;
  /** Resource and verb: `application.create`, `member.deactivate`, `token.lockout`. */
  readonly action: `${string}.${string}`;
  /** Identity of what it was done to, such as `applications/<uuid>`. */
  readonly resource: string;
  /** `success` unless said otherwise. */
  readonly outcome?: 'success' | 'failure';
  /** What an auditor asks next: names, roles, reasons; never a secret. */
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

/** The actor that a verified token stands for. */
export function actorOf(principal: Omit<Principal, 'roles'>): Actor {
  const { issuer, subject, displayName } = principal;
  return { issuer, subject, displayName };
}
