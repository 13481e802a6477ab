import { z } from 'zod';
import { OWNER_ROLE } from '../access/permits.js';

/** Somebody who works in a tenancy, known by the tenancy's identity provider. */
export interface Member {
  readonly tenantId: string;
  readonly memberId: string;
  readonly issuer: string;
  readonly subject: string;
  readonly displayName: string;
  /** Verified by the provider when he last signed in. */
  readonly email: string;
  readonly roles: readonly string[];
  readonly active: boolean;
  readonly createdAt: Date;
}

/** Body of `PATCH /archivist/iam/v1/members/{uuid}`: the roles are what is sent. */
export const changeMemberSchema = z.object({
  roles: z
    .array(z.literal(OWNER_ROLE))
    .max(16)
    .transform((roles) => [...new Set(roles)]),
});

export function memberIdentity(memberId: string): string {
  return `members/${memberId}`;
}

/** A member in an answer. */
export const memberSchema = z.strictObject({
  identity: z.string(),
  display_name: z.string(),
  email: z.string(),
  active: z.boolean(),
  roles: z.array(z.string()),
});

/** A member as the interface shows it. */
export function memberResponse(member: Member): Record<string, unknown> {
  return {
    identity: memberIdentity(member.memberId),
    display_name: member.displayName,
    email: member.email,
    active: member.active,
    roles: member.roles,
  };
}

/** True for one and the same address: no letter that only looks alike, or folds to another one, is the same. */
export function sameEmail(left: string, right: string): boolean {
  return /^[\x21-\x7e]+$/.test(left) && /^[\x21-\x7e]+$/.test(right) && left.toLowerCase() === right.toLowerCase();
}
