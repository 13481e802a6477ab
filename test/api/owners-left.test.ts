import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PeopleRig, startPeopleRig } from './people-rig.js';
import { sendRequest } from './send-request.js';
import { type Client, clientWith } from './test-service.js';

let rig: PeopleRig;
beforeAll(async () => {
  rig = await startPeopleRig();
});
afterAll(() => rig?.close());

const changed = (client: Client, body: object) =>
  sendRequest(rig.url, client, 'PATCH', '/archivist/v1/tenancies/self', body).then(({ status }) => status);

it('a tenancy keeps an Owner who can act: an application, or a member of the provider by which people sign in now', async () => {
  await rig.join('zoe', ['OWNER']);
  const zoe = clientWith(
    rig.url,
    await rig.provider.token({ sub: 'zoe', email: 'zoe@example.com', email_verified: true }),
  );
  const ownApplication = `/archivist/iam/v1/applications/${rig.owner.clientId}`;
  const leave = () => sendRequest(rig.url, rig.owner, 'DELETE', ownApplication).then(({ status }) => status);
  expect(await changed(rig.owner, { enterprise_sso_enabled: false })).toBe(200);
  expect(await leave()).toBe(409);
  expect(await changed(rig.owner, { enterprise_sso_enabled: true })).toBe(200);
  expect(await leave()).toBe(200);
  const other = { issuer: 'https://other.example', client_id: 'another' };
  expect(await changed(zoe, { enterprise_sso_enabled: false })).toBe(409);
  expect(await changed(zoe, { enterprise_sso_config: other })).toBe(409);
  expect(await changed(zoe, { display_name: 'Still hers' })).toBe(200);
});
