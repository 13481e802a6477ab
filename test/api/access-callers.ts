import { decodeJwt } from 'jose';
import { insertMember } from '../../src/iam/members/member-store.js';
import { openSession } from '../../src/iam/sessions/session.js';
import { systemClock } from '../../src/platform/clock.js';
import { startOpenidProvider } from '../support/openid-provider.js';
import { trust } from './people-rig.js';
import { exchangeSubjects, forClient, made, POLICIES } from './policy-scene.js';
import type { Client, TestService } from './test-service.js';

/** The headers by which each caller of the access table is known. */
export interface Callers {
  readonly headers: Readonly<Record<string, Readonly<Record<string, string>>>>;
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
  const { members, sessions, end } = await makeMembers(running);
  const tokens = {
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
  const bearers = Object.entries(tokens).map(([name, token]) => [name, { authorization: `Bearer ${token}` }]);
  return { headers: { none: {}, ...Object.fromEntries(bearers), ...sessions }, end };
}

/** Requests with the cookies of two people: of the service's own pages, and those that other pages make a browser send. */
function sessionHeaders(url: string, cookie: string, ownersCookie: string): Callers['headers'] {
  const own = { origin: url, 'sec-fetch-site': 'same-origin', 'archivist-session': 'write' };
  return {
    session: { cookie, ...own },
    sessionOwner: { cookie: ownersCookie, ...own },
    crossSite: { cookie: ownersCookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    otherPort: { cookie: ownersCookie, origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' },
  };
}

/** Two people of the first tenancy, with tokens of its own identity provider, and with a session each. */
async function makeMembers(running: TestService) {
  const { database, ids, keyring } = running.service.parts;
  const provider = await startOpenidProvider([`${running.url}/console/callback`]);
  await trust(running, running.owner, provider);
  const tenantId = String(decodeJwt(running.owner.token)['jit_tenant_id']).slice('tenant/'.length);
  const deps = { database, ids, clock: systemClock, pepper: keyring.pepper, publicUrl: running.url };
  const join = async (subject: string, roles: string[]) => {
    const email = `${subject}@example.com`;
    const memberId = ids.uuid();
    const person = { subject, email, displayName: subject, roles, issuer: provider.issuer };
    const cookie = await database.inTransaction('system', async (tx) => {
      await insertMember(tx, { ...person, tenantId, memberId, active: true, createdAt: new Date() });
      return openSession(tx, deps, { tenantId, memberId }, []);
    });
    const token = await provider.token({ sub: subject, email, email_verified: true });
    return { token, cookie: cookie.slice(0, cookie.indexOf(';')) };
  };
  const [basic, chief] = [await join('basic', []), await join('chief', ['OWNER'])];
  return {
    members: { member: basic.token, memberOwner: chief.token },
    sessions: sessionHeaders(running.url, basic.cookie, chief.cookie),
    end: () => provider.close(),
  };
}
