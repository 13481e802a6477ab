import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { confirmedShares } from '../../src/iam/access/confirmed-share-store.js';
import { sendRequest } from './send-request.js';
import { type Client, startTestService, type TestService } from './test-service.js';

const SUBJECTS = '/archivist/iam/v1/subjects';
const SELF = `${SUBJECTS}/00000000-0000-0000-0000-000000000000`;
const WALLET =
  '04c1173bf7844bf1c607b79c18db091b9558ffe581bf132b8cf3b37657230fa321a0880b54a79a88b28bc710ede6dcf3d8272c5210bfd41ea83188e385d12c189c';
const TESSERA = 'efdg9J0QhSB2g4IxKcaXgJmNKbzpxs03FFYIiYYuekk=';
const KEYS = { wallet_pub_key: [WALLET], tessera_pub_key: [TESSERA] };

let running: TestService;
let owner: Client;
let partner: Client;
let third: Client;
beforeAll(async () => {
  running = await startTestService();
  owner = running.owner;
  partner = await running.client({ roles: ['OWNER'], otherTenancy: true });
  third = await running.client({ roles: ['OWNER'], otherTenancy: true });
});
afterAll(() => running?.close());

async function made(client: Client, body: object): Promise<string> {
  const { status, json } = await client.post(SUBJECTS, body);
  expect([status, json['description']]).toEqual([200, undefined]);
  return String(json['identity']);
}

const patch = (client: Client, path: string, body: unknown) => sendRequest(running.url, client, 'PATCH', path, body);
const remove = (client: Client, path: string) => sendRequest(running.url, client, 'DELETE', path);
const read = async (client: Client, identity: string) => (await client.get(`/archivist/iam/v1/${identity}`)).json;
const self = async (client: Client) => (await client.get(SELF)).json;
const statusOf = async (client: Client, identity: string) => (await read(client, identity))['confirmation_status'];
const shareOf = async (client: Client) => {
  const { wallet_pub_key, tessera_pub_key } = await self(client);
  return { display_name: `Known by ${client.clientId}`, wallet_pub_key, tessera_pub_key };
};
const tenantOf = async (client: Client) => String((await self(client))['tenant']).slice('tenant/'.length);

it('a tenancy has at most 1,000 subjects with its own: each read of an Owner asks for all names under which others know it', async () => {
  const client = await running.client({ roles: ['OWNER'], otherTenancy: true });
  const [, subjectId] = (await made(client, { display_name: 'The first', ...KEYS })).split('/');
  await running.asOwner(
    `INSERT INTO archivist.subject (tenant_id, subject_id, display_name, wallet_pub_key, wallet_address, tessera_pub_key, created_at)
      SELECT tenant_id, gen_random_uuid(), display_name, wallet_pub_key, wallet_address, tessera_pub_key, created_at
        FROM archivist.subject, generate_series(1, 997) WHERE subject_id = '${subjectId}'`,
  );
  await made(client, { display_name: 'The last', ...KEYS });
  const { status, json } = await client.post(SUBJECTS, { display_name: 'One more', ...KEYS });
  expect([status, json['description']]).toEqual([400, 'A tenancy has at most 1000 subjects: delete one first.']);
});

describe('a subject', () => {
  it('is what was imported, with the address of its wallet, and pending', async () => {
    const { json } = await owner.post(SUBJECTS, { display_name: 'A partner', ...KEYS });
    expect(json).toEqual({
      identity: expect.stringMatching(/^subjects\/[0-9a-f-]{36}$/),
      display_name: 'A partner',
      ...KEYS,
      wallet_address: ['0x99Fa4AAB0AF2B53f158083D8f244bb4523388197'],
      tenant: `tenant/${await tenantOf(owner)}`,
      confirmation_status: 'PENDING',
    });
    expect(await read(owner, String(json['identity']))).toEqual(json);
  });

  it('needs a name alone, and real keys', async () => {
    await made(owner, { display_name: 'No keys yet' });
    const wrong = [
      [{}, /^display_name/],
      [{ display_name: 'x'.repeat(129) }, /^display_name/],
      [{ display_name: 'x', wallet_pub_key: [WALLET, `${WALLET.slice(0, -1)}d`] }, /^wallet_pub_key\.1: /],
      [{ display_name: 'x', wallet_pub_key: 'x' }, /^wallet_pub_key/],
      [{ display_name: 'x', tessera_pub_key: ['key3'] }, /^tessera_pub_key\.0: /],
      [{ display_name: 'x', subject_string: 'x' }, /^subject_string: /],
      [{ display_name: 'x', subject_string: 'e30=', ...KEYS }, /^subject_string: /],
    ] as const;
    for (const [body, description] of wrong) {
      const { status, json } = await owner.post(SUBJECTS, body);
      expect([status, json['description']]).toEqual([400, expect.stringMatching(description)]);
    }
  });

  it('may be imported many times, under any names', async () => {
    const identities = [
      await made(owner, { display_name: 'One', ...KEYS }),
      await made(owner, { display_name: 'Two', ...KEYS }),
    ];
    expect(new Set(identities).size).toBe(2);
  });

  it('changes by what is sent, and nothing else of it does', async () => {
    const identity = await made(owner, { display_name: 'Before', ...KEYS });
    const before = await read(owner, identity);
    const path = `/archivist/iam/v1/${identity}`;
    const renamed = await patch(owner, path, {
      display_name: 'After',
      tenant: 'tenant/x',
      confirmation_status: 'CONFIRMED',
    });
    expect([renamed.status, await read(owner, identity)]).toEqual([200, { ...before, display_name: 'After' }]);
    await patch(owner, path, { wallet_pub_key: [] });
    expect(await read(owner, identity)).toMatchObject({
      wallet_pub_key: [],
      wallet_address: [],
      tessera_pub_key: [TESSERA],
    });
    expect((await patch(owner, path, { wallet_pub_key: ['00'] })).status).toBe(400);
  });

  it('is renamed without another check of the keys that it has', async () => {
    const identity = await made(owner, { display_name: 'Before', ...KEYS });
    const subjectId = identity.split('/')[1];
    // Only a check could tell.
    await running.asOwner(
      `UPDATE archivist.subject SET tessera_pub_key = '{not a key}' WHERE subject_id = '${subjectId}'`,
    );
    const renamed = await patch(owner, `/archivist/iam/v1/${identity}`, { display_name: 'After' });
    expect([renamed.status, renamed.json['display_name']]).toEqual([200, 'After']);
  });

  it('is gone when it is deleted', async () => {
    const identity = await made(owner, { display_name: 'Gone' });
    const path = `/archivist/iam/v1/${identity}`;
    const { status, json } = await remove(owner, path);
    expect([status, json]).toEqual([200, {}]);
    expect((await owner.get(path)).status).toBe(404);
    expect((await remove(owner, path)).status).toBe(404);
  });
});

describe('the audit of a tenancy', () => {
  it('tells who was let in and who was not any longer', async () => {
    const identity = await made(owner, { display_name: 'Audited', ...KEYS });
    await patch(owner, `/archivist/iam/v1/${identity}`, { display_name: 'Audited again' });
    await remove(owner, `/archivist/iam/v1/${identity}`);
    const rows = await running.service.parts.database.inTransaction('system', (tx) =>
      tx.query<{ attributes: Record<string, unknown> }>(
        `SELECT attributes FROM archivist.asset_free_event WHERE attributes ->> 'resource' = $1 ORDER BY event_id`,
        [identity],
      ),
    );
    expect(rows.map((row) => row.attributes['action'])).toEqual(['subject.create', 'subject.change', 'subject.delete']);
    expect(rows[0]?.attributes['details']).toMatchObject({
      wallet_address: ['0x99Fa4AAB0AF2B53f158083D8f244bb4523388197'],
    });
  });
});

describe('a list of subjects', () => {
  it('counts and finds by name and by wallet, in pages, newest first or by name', async () => {
    const name = randomUUID();
    const first = await made(owner, { display_name: `${name} b`, ...KEYS });
    const second = await made(owner, { display_name: `${name} a`, ...KEYS });
    const counted = await owner.get(`${SUBJECTS}?page_size=1&display_name=${name}%20b`, {
      'x-request-total-count': 'true',
    });
    expect([counted.headers.get('x-total-count'), counted.json['subjects']]).toEqual(['1', [await read(owner, first)]]);
    const wallet = '&wallet_address=0x99Fa4AAB0AF2B53f158083D8f244bb4523388197';
    const newest = await owner.get(`${SUBJECTS}?page_size=1${wallet}`);
    const next = await owner.get(`${SUBJECTS}?page_size=1&page_token=${newest.json['next_page_token']}`);
    expect([newest.json['subjects'], next.json['subjects']]).toEqual([
      [await read(owner, second)],
      [await read(owner, first)],
    ]);
    const inLowerCase = await owner.get(`${SUBJECTS}?page_size=1${wallet.toLowerCase()}`);
    expect(inLowerCase.json['subjects'], 'the case of an address carries no meaning').toEqual(newest.json['subjects']);
    const byName = await owner.get(`${SUBJECTS}?order_by=DISPLAY_NAME`);
    const names = (byName.json['subjects'] as { display_name: string }[]).map((each) => each.display_name);
    expect(names.filter((each) => each.startsWith(name))).toEqual([`${name} a`, `${name} b`]);
    expect(names).toContain('Self');
    for (const query of ['order_by=NEWEST', 'colour=red'])
      expect((await owner.get(`${SUBJECTS}?${query}`)).status).toBe(400);
  });
});

describe('Self', () => {
  it('is an object with the keys of the tenancy, and a string that another one imports', async () => {
    const { subject_string: exported, ...mine } = await self(owner);
    expect(mine).toMatchObject({ identity: SELF.slice('/archivist/iam/v1/'.length), display_name: 'Self' });
    expect(JSON.parse(Buffer.from(String(exported), 'base64').toString())).toEqual(mine);
    const imported = await read(partner, await made(partner, { display_name: 'By string', subject_string: exported }));
    for (const key of ['wallet_pub_key', 'wallet_address', 'tessera_pub_key']) expect(imported[key]).toEqual(mine[key]);
    // Also with the whole record, as a client sends it that copies what it has read.
    const whole = { ...mine, subject_string: exported, display_name: 'By record' };
    expect(await read(partner, await made(partner, whole))).toMatchObject({ wallet_pub_key: mine['wallet_pub_key'] });
    const location = { display_name: 'x', latitude: 1, longitude: 1 };
    expect((await owner.post('/archivist/v2/locations', location)).json['owner']).toEqual(
      (mine['wallet_address'] as string[])[0],
    );
  });

  it('is changed and deleted by nobody', async () => {
    const before = await self(owner);
    expect((await patch(owner, SELF, { display_name: 'Somebody else', ...KEYS })).status).toBe(403);
    expect((await remove(owner, SELF)).status).toBe(403);
    expect(await self(owner)).toEqual(before);
  });
});

describe('two tenancies of a deployment', () => {
  it('confirm each other by importing each other, until one of them takes it back', async () => {
    const there = await made(third, await shareOf(owner));
    expect(await statusOf(third, there)).toBe('PENDING');
    const here = await made(owner, await shareOf(third));
    const again = await made(owner, await shareOf(third));
    for (const identity of [here, again]) expect(await statusOf(owner, identity)).toBe('CONFIRMED');
    expect(await statusOf(third, there)).toBe('CONFIRMED');
    const listed = (await third.get(SUBJECTS)).json['subjects'] as Record<string, unknown>[];
    expect(listed.map((each) => each['confirmation_status'])).toEqual(['CONFIRMED', 'CONFIRMED']);
    for (const identity of [here, again]) await remove(owner, `/archivist/iam/v1/${identity}`);
    expect(await statusOf(third, there)).toBe('PENDING');
  });

  it('end it by a change of keys as well', async () => {
    const there = await made(third, await shareOf(owner));
    const here = await made(owner, await shareOf(third));
    await patch(owner, `/archivist/iam/v1/${here}`, KEYS);
    expect([await statusOf(owner, here), await statusOf(third, there)]).toEqual(['PENDING', 'PENDING']);
  });

  it('do not confirm a third one, nor themselves', async () => {
    await made(partner, await shareOf(owner));
    const mine = await made(owner, await shareOf(owner));
    expect(await statusOf(owner, mine)).toBe('PENDING');
    expect(await statusOf(third, await made(third, await shareOf(partner)))).toBe('PENDING');
  });

  it('are told as shares to those who may read the tenancy, and to no others', async () => {
    const [mine, theirs] = [await tenantOf(partner), await tenantOf(third)];
    const here = await made(partner, await shareOf(third));
    const there = await made(third, await shareOf(partner));
    const { database } = running.service.parts;
    const seen = (read: string[]) => database.inTransaction({ read, write: [] }, (tx) => confirmedShares(tx, mine));
    const shares = await seen([mine]);
    expect(shares.map((share) => share.tenantId)).toEqual([theirs]);
    expect(shares[0]?.knownHereAs).toContain(here.slice('subjects/'.length));
    expect(shares[0]?.knownThereAs).toContain(there.slice('subjects/'.length));
    expect(await seen([theirs])).toEqual([]);
    expect(await seen([])).toEqual([]);
    const behind = await database.inTransaction({ read: [mine], write: [] }, async (tx) => {
      await confirmedShares(tx, mine);
      return tx.query('SELECT DISTINCT tenant_id FROM archivist.subject');
    });
    expect(behind).toEqual([{ tenant_id: mine }]);
  });
});
