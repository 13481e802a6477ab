import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setRoles } from '../../src/iam/members/change-member.js';
import { findMember, insertMember } from '../../src/iam/members/member-store.js';
import { createActTurns } from '../../src/iam/security/act-turns.js';
import { administer } from '../../src/iam/security/administer.js';
import { lockOwners } from '../../src/iam/security/owner-store.js';
import { openRefusedActs } from '../../src/iam/security/refused-acts.js';
import { createLogger } from '../../src/platform/logger.js';
import { sendRequest } from './send-request.js';
import { type Client, startTestService, type TestService } from './test-service.js';

const APPLICATIONS = '/archivist/iam/v1/applications';
const SELF = '/archivist/v1/tenancies/self';
let running: TestService;
beforeAll(async () => {
  running = await startTestService();
});
afterAll(() => running?.close());

const tenantId = () => String(decodeJwt(running.owner.token)['jit_tenant_id']).slice('tenant/'.length);
const logger = createLogger('silent');
const deps = () => ({
  ...running.service.parts,
  logger,
  refusedActs: openRefusedActs(logger),
  actTurns: createActTurns(),
});
const act = { action: 'thing.change', resource: 'things/1' } as const;

/** The caller as a request that came while it was an Owner knows it. */
function ownerOnce({ clientId }: Client) {
  const issuer = `${running.url}/appidpv1`;
  const roles = ['OWNER'];
  return {
    kind: 'application' as const,
    tenantId: tenantId(),
    issuer,
    subject: clientId,
    displayName: '',
    email: '',
    roles,
    claims: {},
  };
}

const demote = ({ clientId }: Client) =>
  sendRequest(running.url, running.owner, 'PATCH', `${APPLICATIONS}/${clientId}`, { roles: [] });

describe('an act of an Owner', () => {
  it('is refused when the role went between the request and the act, and the refusal is in the audit', async () => {
    const client = await running.client({ roles: ['OWNER'] });
    const principal = ownerOnce(client);
    await administer(deps(), principal, act, async () => ({ result: undefined }));
    await demote(client);
    let acted = false;
    const late = administer(deps(), principal, act, async () => {
      acted = true;
      return { result: undefined };
    });
    await expect(late).rejects.toMatchObject({ code: 'forbidden' });
    expect(acted).toBe(false);
    const { json } = await running.owner.get(
      `/archivist/v1/security_events?resource=things/1&actor=${client.clientId}`,
    );
    const entries = json['security_events'] as { attributes: { outcome: string } }[];
    expect(entries.map(({ attributes }) => attributes.outcome)).toEqual(['failure', 'success']);
  });

  it('keeps whoever takes the role away waiting until it is done', async () => {
    const client = await running.client({ roles: ['OWNER'] });
    let demoted = false;
    let demotion: Promise<unknown> = Promise.resolve();
    await administer(deps(), ownerOnce(client), act, async () => {
      demotion = demote(client).then(() => {
        demoted = true;
      });
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(demoted).toBe(false);
      return { result: undefined };
    });
    await demotion;
    expect(demoted).toBe(true);
  });

  it('of a member makes a change of the identity provider wait, and is refused after the change', async () => {
    const { database, ids } = running.service.parts;
    const person = { issuer: 'https://sign-in.example', subject: 'olga', displayName: '', email: 'olga@example.com' };
    const olga = { ...person, tenantId: tenantId(), roles: ['OWNER'], claims: {}, kind: 'member' as const };
    const joined = { memberId: ids.uuid(), active: true, createdAt: new Date() };
    await database.inTransaction('system', (tx) => insertMember(tx, { ...olga, ...joined }));
    const change = (provider: object) => sendRequest(running.url, running.owner, 'PATCH', SELF, provider);
    await change({ enterprise_sso_config: { issuer: person.issuer, client_id: 'console' } });
    const isEnabled = async () => (await running.owner.get(SELF)).json['enterprise_sso_enabled'];
    expect(await isEnabled()).toBe(true);
    let isDisabled = false;
    let disabling: Promise<unknown> = Promise.resolve();
    await administer(deps(), olga, act, async () => {
      disabling = change({ enterprise_sso_enabled: false }).then(() => {
        isDisabled = true;
      });
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(isDisabled).toBe(false);
      return { result: undefined };
    });
    await disabling;
    expect(await isEnabled()).toBe(false);
    const late = administer(deps(), olga, act, async () => ({ result: undefined }));
    await expect(late).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('upon a member too: an application that makes an Owner stays one until that is done', async () => {
    const { database, ids } = running.service.parts;
    const client = await running.client({ roles: ['OWNER'] });
    const member = {
      tenantId: tenantId(),
      memberId: ids.uuid(),
      issuer: 'https://idp.example',
      subject: 'mallory',
      displayName: '',
      email: 'mallory@example.com',
      roles: [],
      active: true,
      createdAt: new Date(),
    };
    await database.inTransaction('system', (tx) => insertMember(tx, member));
    const order: string[] = [];
    const works: Promise<unknown>[] = [];
    const pause = () => new Promise((resolve) => setTimeout(resolve, 500));
    // Whoever changes members waits for this one, when he has been found to be an Owner.
    await database.inTransaction('system', async (tx) => {
      await lockOwners(tx, tenantId());
      works.push(
        setRoles(deps(), ownerOnce(client), member.memberId, ['OWNER']).then(() => order.push('member changed')),
      );
      await pause();
      works.push(demote(client).then(() => order.push('application demoted')));
      await pause();
      expect(order).toEqual([]);
    });
    await Promise.all(works);
    expect([...order].sort()).toEqual(['application demoted', 'member changed']);
    const changed = await database.inTransaction('system', (tx) => findMember(tx, tenantId(), member.memberId));
    expect(changed?.roles).toEqual(['OWNER']);
    await expect(setRoles(deps(), ownerOnce(client), member.memberId, [])).rejects.toMatchObject({ code: 'forbidden' });
  });
});
