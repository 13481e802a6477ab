import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { IdentityProvider } from '../identity-provider/identity-provider.js';
import { findProvider } from '../identity-provider/identity-provider-store.js';
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
  readonly subject: string;
  readonly displayName: string;
  /** Verified. */
  readonly email: string;
  readonly groups: readonly string[];
}

/** With the issuer of the provider. */
type Admitted = Person & Pick<IdentityProvider, 'issuer'>;

type AdmitDeps = SessionDeps & { readonly logger: Logger };

/**
 * Opens a session for a member, or for a person who accepts an invite to their own address. Accepting deletes the
 * invite and creates the member in the same transaction. Returns the session's Set-Cookie header.
 * @param provider as it was when the person was confirmed
 * @throws {ApiError} forbidden for everybody else; an invite that was meant for another person stays. bad_request if the
 *   tenancy has changed its provider meanwhile
 */
export function admitPerson(
  deps: AdmitDeps,
  provider: IdentityProvider,
  confirmed: Person,
  inviteToken?: string,
): Promise<string> {
  const { tenantId, issuer } = provider;
  const person = { ...confirmed, issuer };
  return deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    // If one person accepts two invites at the same time, the second finds a member.
    await lockOwners(tx, tenantId);
    // A change of the provider ends all sessions: one that was opened right after it would remain.
    if (!isDeepStrictEqual(await findProvider(tx, tenantId), provider)) throw providerChanged();
    const known = await findMemberBySubject(tx, tenantId, person);
    if (known && !known.active)
      throw new ApiError(
        'forbidden',
        'Your account is deactivated here. Ask an Owner of your organisation to activate it, then sign in again.',
      );
    if (inviteToken !== undefined) await redeemInvite(tx, deps, person, { tenantId, inviteToken });
    else if (!known)
      throw new ApiError(
        'forbidden',
        `You are not a member of this tenancy: an Owner must invite you. ${signedInAs(person)}`,
      );
    const { displayName, email } = person;
    if (known) await updateMember(tx, { ...known, displayName, email });
    return openSession(tx, deps, known ?? (await join(tx, deps, person, tenantId)), person.groups);
  });
}

/** A provider that remembers a person signs in the same one again, without a question. */
function signedInAs({ email }: Person): string {
  return `The identity provider signs you in as ${email}. To use another account, sign out there first, then open the link again.`;
}

export function providerChanged(): ApiError {
  return new ApiError('bad_request', 'The tenancy has changed its identity provider. Sign in again.');
}

async function redeemInvite(
  tx: Tx,
  deps: AdmitDeps,
  person: Admitted,
  link: { readonly tenantId: string; readonly inviteToken: string },
): Promise<void> {
  const { tenantId } = link;
  const hash = hashSecretToken(deps.pepper, 'invite', link.inviteToken);
  const invite = await takeInvite(tx, tenantId, hash, new Date(deps.clock.now()));
  if (!invite) throw new ApiError('forbidden', 'This link was used, was withdrawn, or has expired.');
  if (!sameEmail(invite.email, person.email))
    throw new ApiError('forbidden', `This invite is for ${invite.email}. ${signedInAs(person)}`);
  await recordSecurityEvent(tx, deps, {
    tenantId,
    actor: person,
    action: 'invite.accept',
    resource: inviteIdentity(invite.inviteId),
    details: { email: invite.email },
  });
}

async function join(tx: Tx, deps: AdmitDeps, person: Admitted, tenantId: string): Promise<Member> {
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
