import { z } from 'zod';
import { rolesSchema } from '../access/roles.js';

/** A person who works in a tenancy, known by the tenancy's identity provider. */
export interface Member {
  readonly tenantId: string;
  readonly memberId: string;
  readonly issuer: string;
  readonly subject: string;
  readonly displayName: string;
  /** Verified by the provider at the last sign-in. */
  readonly email: string;
  readonly roles: readonly string[];
  readonly active: boolean;
  readonly createdAt: Date;
}

/** Body of `PATCH /archivist/iam/v1/members/{uuid}`: the roles that the member will have. */
export const changeMemberSchema = z.object({
  roles: rolesSchema,
});

export function memberIdentity(memberId: string): string {
  return `members/${memberId}`;
}

/** A member in a response. */
export const memberSchema = z.strictObject({
  identity: z.string(),
  display_name: z.string(),
  email: z.string(),
  active: z.boolean(),
  roles: z.array(z.string()),
});

/** A member in the form of the interface. */
export function memberResponse(member: Member): Record<string, unknown> {
  return {
    identity: memberIdentity(member.memberId),
    display_name: member.displayName,
    email: member.email,
    active: member.active,
    roles: member.roles,
  };
}

/**
 * True if two addresses are the same, ignoring the case of ASCII letters only: letters that look alike, or that Unicode
 * folds together, differ.
 */
export function sameEmail(left: string, right: string): boolean {
  return /^[\x21-\x7e]+$/.test(left) && /^[\x21-\x7e]+$/.test(right) && left.toLowerCase() === right.toLowerCase();
}
