import { decodeJwt } from 'jose';
import { insertMember } from '../../src/iam/members/member-store.js';
import { startOpenidProvider } from '../support/openid-provider.js';
import { trust } from './people-rig.js';
import { exchangeSubjects, forClient, made, POLICIES } from './policy-scene.js';
import type { Client, TestService } from './test-service.js';

/** The token of each caller of the access table; empty for none. */
export interface Callers {
  readonly tokens: Readonly<Record<string, string>>;
  /** Ends what they need. */
  end(): Promise<void>;
}

const READS_CALLS = { behaviours: ['*'], asset_attributes_read: ['*'], event_arc_display_type_read: ['*'] };
const RECORDS_NOTES = { event_arc_display_type_write: ['Note', 'vcon_created'], asset_attributes_write: ['note'] };

/** Makes them, each with what a policy over assets of display type `Call` gives to it. */
export async function makeCallers(running: TestService, creator: Client): Promise<Callers> {
  const { owner, service } = running;
  const claims = { ...decodeJwt(owner.token), exp: Math.floor(Date.now() / 1000) - 60 };
  const [stranger, reader, writer, guest] = [
    await running.client({ roles: ['OWNER'], otherTenancy: true }),
    await running.client({}),
    await running.client({}),
    await running.client({ roles: ['OWNER'], otherTenancy: true }),
  ];
  const subject = await exchangeSubjects(owner, guest);
  const permissions = [
    forClient(reader, READS_CALLS),
    forClient(writer, RECORDS_NOTES),
    { subjects: [subject], ...READS_CALLS },
  ];
  made(
    await owner.post(POLICIES, {
      display_name: 'Calls',
      filters: [{ or: ['attributes.arc_display_type=Call'] }],
      access_permissions: permissions,
    }),
  );
  const { members, end } = await makeMembers(running);
  const tokens = {
    none: '',
    garbage: `${owner.token.slice(0, -6)}AAAAAA`,
    expired: await service.parts.keyring.signToken(claims, { typ: 'at+jwt' }),
    stranger: stranger.token,
    plain: (await running.client({})).token,
    creator: creator.token,
    owner: owner.token,
    reader: reader.token,
    writer: writer.token,
    guest: guest.token,
    ...members,
  };
  return { tokens, end };
}

/** Two people of the first tenancy, with tokens of its own identity provider. */
async function makeMembers(running: TestService) {
  const { database, ids } = running.service.parts;
  const provider = await startOpenidProvider([`${running.url}/console/callback`]);
  await trust(running, running.owner, provider);
  const tenantId = String(decodeJwt(running.owner.token)['jit_tenant_id']).slice('tenant/'.length);
  const join = async (subject: string, roles: string[]) => {
    const email = `${subject}@example.com`;
    await database.inTransaction('system', (tx) =>
      insertMember(tx, {
        tenantId,
        memberId: ids.uuid(),
        issuer: provider.issuer,
        subject,
        email,
        displayName: subject,
        roles,
        active: true,
        createdAt: new Date(),
      }),
    );
    return provider.token({ sub: subject, email, email_verified: true });
  };
  const members = { member: await join('basic', []), memberOwner: await join('chief', ['OWNER']) };
  return { members, end: () => provider.close() };
}
