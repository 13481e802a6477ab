import type { AttemptLimiter } from '../../platform/attempt-limiter.js';
import { ApiError, retryLater } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { SendMail } from '../../platform/mail.js';
import type { Tx } from '../../platform/postgres/database.js';
import { isOwner } from '../access/owner-and-creator.js';
import { hashSecretToken, newSecretToken } from '../secret-token.js';
import { type AdministerDeps, administer } from '../security/administer.js';
import { lockForCounting } from '../tenancies/quota-store.js';
import { findTenancy } from '../tenancies/tenancy-store.js';
import { type CreateInviteBody, INVITE_LIFETIME_MS, type Invite, inviteIdentity, inviteResponse } from './invite.js';
import { deleteEarlierInvites, deleteInviteRow, insertInvite, newestInviteTo } from './invite-store.js';

const TRY_AGAIN_SECONDS = 60;
/** Of one tenancy in an hour: an Owner must not use the service to write to strangers. */
export const MOST_INVITES = { attempts: 100, seconds: 3_600 };

export interface WriteInviteDeps extends AdministerDeps {
  readonly publicUrl: string;
  readonly pepper: Uint8Array;
  readonly sendMail: SendMail;
  /** Counts the invites of each tenancy, up to `MOST_INVITES`. */
  readonly invited: AttemptLimiter;
}

/**
 * Invites a person by e-mail. The invite is stored before the e-mail is sent, and deleted if sending fails. A crash in
 * between leaves an invite whose e-mail was never sent; an Owner can delete it. Earlier invites to the same address end.
 * @throws {ApiError} forbidden, rate_limited, unavailable
 */
export async function createInvite(
  deps: WriteInviteDeps,
  principal: Principal,
  body: CreateInviteBody,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  const token = newSecretToken((count) => deps.ids.randomBytes(count));
  const act = { action: 'invite.create', resource: 'invites' } as const;
  const { invite, tenancy } = await inPlace(deps, principal, () =>
    administer(deps, principal, act, async (tx) => {
      const made = await newInvite(tx, deps, tenantId, body);
      await insertInvite(tx, made, hashSecretToken(deps.pepper, 'invite', token));
      const { email, inviteId } = made;
      const result = { invite: made, tenancy: await findTenancy(tx, tenantId) };
      return { result, resource: inviteIdentity(inviteId), details: { email } };
    }),
  );
  const link = `${deps.publicUrl}/console/accept-invite?token=${token}`;
  try {
    await deps.sendMail(inviteMail(invite, { from: principal.displayName, tenancy: tenancy?.displayName ?? '', link }));
  } catch (error) {
    deps.logger.warn({ err: error }, 'an invite could not be sent');
    await deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, (tx) =>
      deleteInviteRow(tx, tenantId, invite.inviteId),
    );
    throw retryLater(
      'unavailable',
      'The e-mail could not be sent, so no invite was created. Try again later.',
      TRY_AGAIN_SECONDS,
    );
  }
  await deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, (tx) => deleteEarlierInvites(tx, invite));
  return inviteResponse(invite);
}

/**
 * Invites to one address are created one after the other, each later than those before, although the clocks of two
 * processes can differ. So of several at once, each deletes the earlier ones, and the last one stays.
 */
async function newInvite(tx: Tx, deps: WriteInviteDeps, tenantId: string, body: CreateInviteBody): Promise<Invite> {
  await lockForCounting(tx, tenantId);
  const now = deps.clock.now();
  const newest = await newestInviteTo(tx, tenantId, body.email);
  return {
    tenantId,
    inviteId: deps.ids.uuid(),
    email: body.email,
    message: body.message ?? '',
    expiryTime: new Date(now + INVITE_LIFETIME_MS),
    createdAt: new Date(Math.max(now, (newest?.getTime() ?? 0) + 1)),
  };
}

/**
 * Takes a place among the tenancy's invites of this hour before the work, so that invites at the same time share the
 * places, and gives it back if the work fails. A caller who is no Owner takes none: the work refuses it.
 * @throws {ApiError} rate_limited
 */
async function inPlace<Result>(
  { invited }: WriteInviteDeps,
  principal: Principal,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!isOwner(principal)) return work();
  const { tenantId } = principal;
  const { shutFor } = await invited.count(tenantId);
  if (shutFor !== undefined) {
    const description = `At most ${MOST_INVITES.attempts} invites are sent in an hour.`;
    throw retryLater('rate_limited', description, shutFor / 1_000);
  }
  try {
    return await work();
  } catch (error) {
    await invited.count(tenantId, -1);
    throw error;
  }
}

/** Withdraws an invite: its link becomes invalid. @throws {ApiError} forbidden, not_found */
export function deleteInvite(deps: AdministerDeps, principal: Principal, inviteId: string): Promise<void> {
  const act = { action: 'invite.delete', resource: inviteIdentity(inviteId) } as const;
  return administer(deps, principal, act, async (tx) => {
    const invite = await deleteInviteRow(tx, principal.tenantId, inviteId);
    if (!invite) throw noSuchInvite();
    return { result: undefined, details: { email: invite.email } };
  });
}

export function noSuchInvite(): ApiError {
  return new ApiError('not_found', 'There is no such invite: it was accepted or withdrawn, or has expired.');
}

/** Text that users typed appears in the body; of the headers, only in the subject, which is one line. */
function inviteMail(invite: Invite, about: { from: string; tenancy: string; link: string }) {
  const subject = `You are invited to ${about.tenancy}`;
  const paragraphs = [
    `${about.from} invites you to the vcon-archivist tenancy "${about.tenancy}".`,
    ...(invite.message === '' ? [] : [invite.message]),
    `Accept by signing in with this address, ${invite.email}:`,
    about.link,
    `The link can be used once, until ${invite.expiryTime.toISOString()}. If you did not expect an invitation, ignore it.`,
  ];
  return { to: invite.email, subject, text: `${paragraphs.join('\n\n')}\n` };
}
