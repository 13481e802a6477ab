import { ApiError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Tx } from '../../platform/postgres/database.js';
import { inviteIdentity } from '../invites/invite.js';
import { takeInvite } from '../invites/invite-store.js';
import { type Member, memberIdentity, sameEmail } from '../members/member.js';
import { findMemberBySubject, insertMember, updateMember } from '../members/member-store.js';
import { hashSecretToken } from '../secret-token.js';
import { lockOwners } from '../security/owner-store.js';
import { recordSecurityEvent } from '../security/record-security-event.js';
import { openSession, type SessionDeps } from '../sessions/session.js';

/** A person whose identity a provider confirms. */
interface Person {
  readonly issuer: string;
  readonly subject: string;
  readonly displayName: string;
  /** Verified. */
  readonly email: string;
  readonly groups: readonly string[];
}

type AdmitDeps = SessionDeps & { readonly logger: Logger };

/**
 * Opens a session for a member, or for a person who accepts an invite to their own address. Accepting deletes the
 * invite and creates the member in the same transaction. Returns the session's Set-Cookie header.
 * @throws {ApiError} forbidden for everybody else; an invite that was meant for another person stays
 */
export function admitPerson(
  deps: AdmitDeps,
  person: Person,
  door: { readonly tenantId: string; readonly inviteToken?: string | undefined },
): Promise<string> {
  const { tenantId, inviteToken } = door;
  return deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    // If one person accepts two invites at the same time, the second finds a member.
    await lockOwners(tx, tenantId);
    const known = await findMemberBySubject(tx, tenantId, person);
    if (known && !known.active)
      throw new ApiError(
        'forbidden',
        'Your account is deactivated here. Ask an Owner of your organisation to activate it, then sign in again.',
      );
    if (inviteToken !== undefined) await redeemInvite(tx, deps, person, { tenantId, inviteToken });
    else if (!known) throw new ApiError('forbidden', 'You are not a member of this tenancy: an Owner must invite you.');
    const { displayName, email } = person;
    if (known) await updateMember(tx, { ...known, displayName, email });
    return openSession(tx, deps, known ?? (await join(tx, deps, person, tenantId)), person.groups);
  });
}

async function redeemInvite(
  tx: Tx,
  deps: AdmitDeps,
  person: Person,
  link: { readonly tenantId: string; readonly inviteToken: string },
): Promise<void> {
  const { tenantId } = link;
  const hash = hashSecretToken(deps.pepper, 'invite', link.inviteToken);
  const invite = await takeInvite(tx, tenantId, hash, new Date(deps.clock.now()));
  if (!invite) throw new ApiError('forbidden', 'This link was used, was withdrawn, or has expired.');
  if (!sameEmail(invite.email, person.email))
    throw new ApiError('forbidden', `This invite is for ${invite.email}: sign in with that address.`);
  await recordSecurityEvent(tx, deps, {
    tenantId,
    actor: person,
    action: 'invite.accept',
    resource: inviteIdentity(invite.inviteId),
    details: { email: invite.email },
  });
}

async function join(tx: Tx, deps: AdmitDeps, person: Person, tenantId: string): Promise<Member> {
  const member: Member = {
    tenantId,
    memberId: deps.ids.uuid(),
    issuer: person.issuer,
    subject: person.subject,
    displayName: person.displayName,
    email: person.email,
    roles: [],
    active: true,
    createdAt: new Date(deps.clock.now()),
  };
  await insertMember(tx, member);
  await recordSecurityEvent(tx, deps, {
    tenantId,
    actor: person,
    action: 'member.join',
    resource: memberIdentity(member.memberId),
    details: { email: member.email },
  });
  return member;
}
