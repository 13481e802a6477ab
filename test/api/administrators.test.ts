import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PeopleRig, startPeopleRig } from './people-rig.js';
import { sendRequest } from './send-request.js';
import { type Client, clientWith } from './test-service.js';

let rig: PeopleRig;
let colleague: Client;
let stranger: Client;
beforeAll(async () => {
  rig = await startPeopleRig();
  colleague = await rig.running.client({});
  stranger = await rig.running.client({ otherTenancy: true, roles: ['OWNER'] });
});
afterAll(() => rig?.close());

interface Administrator {
  readonly issuer: string;
  readonly subject: string;
}

const PATH = '/archivist/v1/tenancies/root_principals';
const listed = async (client: Client) => (await client.get(PATH)).json['root_principals'] as Administrator[];
const replace = (client: Client, list: readonly object[], name = 'administrators') =>
  sendRequest(rig.url, client, 'PATCH', PATH, { [name]: list });
const program = ({ clientId }: Client) => ({ issuer: `${rig.url}/appidpv1`, subject: clientId });
const person = (subject: string) => ({ issuer: rig.provider.issuer, subject });
const subjects = async () => (await listed(rig.owner)).map(({ subject }) => subject);

describe('the administrators of a tenancy', () => {
  it('are its Owners, for Owners to see', async () => {
    expect(await listed(rig.owner)).toEqual([{ ...program(rig.owner), display_name: expect.any(String), email: '' }]);
    expect((await listed(stranger)).map(({ subject }) => subject)).toEqual([stranger.clientId]);
    expect((await colleague.get(PATH)).status).toBe(403);
    expect((await rig.running.anonymous.get(PATH)).status).toBe(401);
  });

  it('are replaced by a list of applications and people, by either name of the list', async () => {
    await rig.join('zoe');
    const zoe = clientWith(
      rig.url,
      await rig.provider.token({ sub: 'zoe', email: 'zoe@example.com', email_verified: true }),
    );
    expect((await zoe.get(PATH)).status).toBe(403);
    const all = [
      program(rig.owner),
      program(colleague),
      { ...person('zoe'), display_name: 'Zoe', email: 'z@x.example' },
    ];
    const { status, json } = await replace(rig.owner, all);
    expect([status, json]).toEqual([200, { root_principals: await listed(rig.owner) }]);
    expect(await subjects()).toEqual([rig.owner.clientId, colleague.clientId, 'zoe']);
    expect((await zoe.get(PATH)).json).toEqual(json);

    const read = await listed(rig.owner);
    const without = read.filter(({ subject }) => subject !== colleague.clientId);
    expect((await replace(zoe, without, 'root_principals')).status).toBe(200);
    expect(await subjects()).toEqual([rig.owner.clientId, 'zoe']);
    expect((await replace(rig.owner, [program(rig.owner)])).status).toBe(200);
    expect((await zoe.get(PATH)).status).toBe(403);
    const { json: audit } = await rig.owner.get('/archivist/v1/security_events?action=tenancy.set_owners');
    expect((audit['security_events'] as { attributes: object }[]).map(({ attributes }) => attributes)).toMatchObject([
      { details: { added: [], removed: ['zoe'] } },
      { details: { added: [], removed: [colleague.clientId] } },
      { details: { added: [colleague.clientId, 'zoe'], removed: [] } },
    ]);
  });

  it('stay as they are if the list leaves out the caller, or has somebody unknown or of another tenancy', async () => {
    const before = await listed(rig.owner);
    const refused: [readonly object[], RegExp][] = [
      [[program(colleague)], /^administrators: you cannot leave yourself out/],
      [[program(rig.owner), program(stranger)], /^administrators\.1: there is no application/],
      [[program(rig.owner), program(colleague), person('nobody')], /^administrators\.2: there is no active member/],
      [[program(rig.owner), { issuer: `${rig.url}/appidpv1`, subject: 'x' }], /^administrators\.1: there is no appl/],
      [[program(rig.owner), { subject: 'x' }], /^administrators\.1\.issuer: /],
      [[], /^administrators: /],
    ];
    for (const [list, reason] of refused) {
      const { status, json } = await replace(rig.owner, list);
      expect([status, json['description']]).toEqual([400, expect.stringMatching(reason)]);
    }
    const neither = await sendRequest(rig.url, rig.owner, 'PATCH', PATH, {});
    expect([neither.status, neither.json['description']]).toEqual([400, expect.stringMatching(/^root_principals: /)]);
    const both = { administrators: before, root_principals: before };
    const twice = await sendRequest(rig.url, rig.owner, 'PATCH', PATH, both);
    expect([twice.status, twice.json['description']]).toEqual([400, expect.stringMatching(/not as both/)]);
    expect((await replace(colleague, [program(colleague)])).status).toBe(403);
    expect((await replace(stranger, [program(stranger)])).status).toBe(200);
    expect(await listed(rig.owner)).toEqual(before);
  });
});
