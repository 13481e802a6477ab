import { z } from 'zod';
import { plainText } from '../../platform/plain-text.js';

/** A person who can become a member, by a link that was sent to their address. */
export interface Invite {
  readonly tenantId: string;
  readonly inviteId: string;
  readonly email: string;
  readonly message: string;
  readonly expiryTime: Date;
  readonly createdAt: Date;
}

/** How long a link is valid: seven days. */
export const INVITE_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

/** One plain address of ASCII: no name, no list, no comment, nothing that ends a line (RFC 5321, 4.1.2, without quoting). */
const EMAIL =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/** Body of `POST /archivist/v1/invites`. */
export const createInviteSchema = z.object({
  email: z.string().max(254).regex(EMAIL, 'must be one e-mail address'),
  message: plainText(4096).nullish(),
});
export type CreateInviteBody = z.output<typeof createInviteSchema>;

export function inviteIdentity(inviteId: string): string {
  return `invites/${inviteId}`;
}

/** An invite in a response. */
export const inviteSchema = z.strictObject({
  identity: z.string(),
  email: z.string(),
  message: z.string(),
  expiry_time: z.string(),
});

/** An invite in the form of the interface; only the e-mail has the link. */
export function inviteResponse(invite: Invite): Record<string, unknown> {
  return {
    identity: inviteIdentity(invite.inviteId),
    email: invite.email,
    message: invite.message,
    expiry_time: invite.expiryTime.toISOString(),
  };
}
