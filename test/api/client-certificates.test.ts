import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.js';
import { accessTable, filled, makeThings, requestOf, type Things, withFresh } from './access-table.js';
import { sendRequest } from './send-request.js';
import { CLIENT_AUTH, type Identity, makeCertificate, unknownExtension } from './test-certificates.js';
import { type Client, startTestService, type TestService, until } from './test-service.js';

const ASSETS = '/archivist/v2/assets';
const CERTIFICATES = '/archivist/v1/tlscacertificates';
const APPLICATIONS = '/archivist/iam/v1/applications';
const NAMED = 'archivist-tenancy';
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

let running: TestService;
let folder: string;
let owner: Client;
let stranger: Client;
/** Registered by the first tenancy. */
let authority: Identity;
let registered: string;
let press: Identity;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tls-'));
  const server = await makeCertificate({ name: 'CN=localhost', usages: ['1.3.6.1.5.5.7.3.1'] });
  await writeFile(join(folder, 'cert.pem'), server.pem);
  await writeFile(join(folder, 'key.pem'), server.keyPem);
  running = await startTestService({
    TLS_CERTIFICATE_FILE: join(folder, 'cert.pem'),
    TLS_KEY_FILE: join(folder, 'key.pem'),
    TLS_PORT: String(await freePort()),
  });
  owner = running.owner;
  stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
  authority = await makeCertificate({ name: 'CN=Acme CA, O=Acme', ca: true });
  registered = await register(authority);
  press = await makeCertificate({ name: 'O=Acme, CN=press 7', issuer: authority });
});
afterAll(async () => {
  await running?.close();
  await rm(folder, { recursive: true, force: true });
});

async function register({ pem }: Identity, client = owner): Promise<string> {
  const { json } = await client.post(CERTIFICATES, { display_name: 'An authority', tlscacertificate: pem });
  return `/archivist/v1/${json['identity']}`;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Certificates sent beside the client's own. */
  readonly chain?: readonly Identity[];
  /** Resumes its TLS session; each request has a connection of its own without one. */
  readonly agent?: Agent;
}

/** A request over TLS, with a certificate or without one. */
function ask(path: string, client: Identity | undefined, asked: Asked = {}) {
  const certificates = client ? [client, ...(asked.chain ?? [])].map(({ pem }) => pem).join('\n') : undefined;
  const options = {
    method: asked.method ?? 'GET',
    headers: {
      ...asked.headers,
      ...(asked.body === undefined ? {} : { 'content-length': Buffer.byteLength(asked.body) }),
    },
    rejectUnauthorized: false,
    agent: asked.agent ?? false,
    ...(client ? { cert: certificates, key: client.keyPem } : {}),
  };
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(`${running.service.tlsUrl}${path}`, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', reject);
    sent.end(asked.body);
  });
}

const status = async (client: Identity | undefined, asked: Asked = {}) => (await ask(ASSETS, client, asked)).status;
const statusIn = (client: Identity, tenancy: string) => status(client, { headers: { [NAMED]: tenancy } });
const sendJson = (path: string, client: Identity, body: unknown) =>
  ask(path, client, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

describe('a client certificate of a registered authority', () => {
  it('metrics say when the certificate of the listener expires', async () => {
    const metrics = new TextDecoder().decode((await running.anonymous.get('/metrics')).bytes);
    const seconds = /^archivist_tls_certificate_expires_timestamp_seconds (\S+)$/m.exec(metrics)?.[1];
    const { validTo } = new X509Certificate(await readFile(join(folder, 'cert.pem')));
    expect(Number(seconds) * 1000).toBe(Date.parse(validTo));
  });

  it('is a principal of the tenancy by its distinguished name', async () => {
    const made = await sendJson(ASSETS, press, { attributes: { arc_display_type: 'Press' } });
    expect(made.status).toBe(200);
    const asset = JSON.parse(made.text) as Record<string, unknown>;
    expect(asset['tenant_identity']).toBe(decodeJwt(owner.token)['jit_tenant_id']);
    const { json } = await owner.get(`/archivist/v2/${asset['identity']}/events`);
    expect(json['events']).toMatchObject([
      {
        principal_accepted: {
          issuer: expect.stringMatching(/^tls-ca:[0-9a-f]{64}$/),
          subject: 'CN=press 7,O=Acme',
          display_name: 'press 7',
        },
      },
    ]);
    expect((await ask(`/archivist/v2/${asset['identity']}`, press)).status).toBe(200);
  });

  it('has a distinguished name of 1,024 bytes at most', async () => {
    const named = (bytes: number) =>
      makeCertificate({ name: `CN=${'é'.repeat(500)}${'x'.repeat(bytes - 1_003)}`, issuer: authority });
    const [longest, longer] = [await named(1_024), await named(1_025)];
    expect((await sendJson(ASSETS, longest, { attributes: {} })).status).toBe(200);
    const refused = await sendJson(ASSETS, longer, { attributes: {} });
    expect([refused.status, JSON.parse(refused.text).description]).toEqual([
      401,
      'The subject of this client certificate is longer than 1024 bytes.',
    ]);
  });

  it('is granted what a policy gives to its subject, until the policy is gone', async () => {
    const made = await owner.post(ASSETS, { attributes: { arc_display_type: 'Ink', level: '7' } });
    const path = `/archivist/v2/${made.json['identity']}`;
    expect((await ask(path, press)).status).toBe(404);
    const policy = await owner.post('/archivist/iam/v1/access_policies', {
      display_name: 'The press reads ink',
      filters: [{ or: ['attributes.arc_display_type=Ink'] }],
      access_permissions: [
        { user_attributes: [{ or: ['subject=CN=press 7,O=Acme'] }], asset_attributes_read: ['*'], behaviours: [] },
      ],
    });
    expect(policy.status).toBe(200);
    expect((await ask(path, press)).status).toBe(200);
    const other = await makeCertificate({ name: 'O=Acme, CN=press 8', issuer: authority });
    expect((await ask(path, other)).status).toBe(404);
    await sendRequest(running.url, owner, 'DELETE', `/archivist/iam/v1/${policy.json['identity']}`);
    expect((await ask(path, press)).status).toBe(404);
  });

  it('administers nothing, and is whoever its token says when it has one', async () => {
    expect((await ask(APPLICATIONS, press)).status).toBe(403);
    const headers = { authorization: `Bearer ${owner.token}` };
    expect((await ask(APPLICATIONS, press, { headers })).status).toBe(200);
    expect((await ask(APPLICATIONS, press, { headers: { authorization: 'Bearer x' } })).status).toBe(401);
    expect((await ask(APPLICATIONS, undefined, { headers })).status).toBe(200);
  });

  it('counts with authorities between, as far as their path lengths reach', async () => {
    const middle = await makeCertificate({ name: 'CN=Middle', issuer: authority, ca: true, pathLength: 0 });
    const below = await makeCertificate({ name: 'CN=Below', issuer: middle, ca: true });
    const near = await makeCertificate({ name: 'CN=near', issuer: middle });
    const far = await makeCertificate({ name: 'CN=far', issuer: below });
    expect(await status(near, { chain: [middle] })).toBe(200);
    expect(await status(near)).toBe(401);
    expect(await status(far, { chain: [below, middle] })).toBe(401);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'counts with authorities between on every connection, also if the client offers to resume its session: %s',
    async (version) => {
      const middle = await makeCertificate({ name: 'CN=Middle', issuer: authority, ca: true });
      const client = await makeCertificate({ name: 'CN=press 9', issuer: middle });
      const agent = new Agent({ minVersion: version, maxVersion: version });
      for (let connection = 0; connection < 3; connection += 1)
        expect(await status(client, { chain: [middle], agent })).toBe(200);
    },
  );

  it('is refused from the request on that follows the removal of its authority', async () => {
    const leaving = await makeCertificate({ name: 'CN=Leaving CA', ca: true });
    const path = await register(leaving);
    const client = await makeCertificate({ name: 'CN=leaver', issuer: leaving });
    expect(await status(client)).toBe(200);
    await sendRequest(running.url, owner, 'DELETE', path);
    expect(await status(client)).toBe(401);
  });
});

describe('a client certificate', () => {
  /** Later than any run of these tests. */
  const later = new Date(Date.now() + 3_600_000);
  const past = new Date(Date.now() - 60_000);

  it.each<[string, () => Promise<Identity>]>([
    ['that it issued to itself', () => makeCertificate({ name: 'O=Acme, CN=press 7' })],
    ['that has expired', () => makeCertificate({ name: 'CN=a', issuer: authority, notAfter: past })],
    ['that is not valid yet', () => makeCertificate({ name: 'CN=a', issuer: authority, notBefore: later })],
    ['of a server', () => makeCertificate({ name: 'CN=a', issuer: authority, usages: ['1.3.6.1.5.5.7.3.1'] })],
    ['for anything', () => makeCertificate({ name: 'CN=a', issuer: authority, usages: ['2.5.29.37.0'] })],
    [
      'that is an authority itself',
      () => makeCertificate({ name: 'CN=a', issuer: authority, ca: true, usages: [CLIENT_AUTH] }),
    ],
    ['without a name', () => makeCertificate({ name: '', issuer: authority })],
    [
      'with a critical extension that nobody knows',
      () => makeCertificate({ name: 'CN=a', issuer: authority, extensions: [unknownExtension(true)] }),
    ],
    [
      'of an authority that only has the name',
      async () =>
        makeCertificate({ name: 'CN=a', issuer: await makeCertificate({ name: 'CN=Acme CA, O=Acme', ca: true }) }),
    ],
    ['that another client issued', () => makeCertificate({ name: 'CN=a', issuer: press })],
    ['that is the registered authority', async () => authority],
  ])('%s is refused', async (_name, make) => {
    expect(await status(await make())).toBe(401);
    expect(await status(await make(), { chain: [press, authority] })).toBe(401);
  });

  it('that says nothing of its use is accepted', async () => {
    expect(await status(await makeCertificate({ name: 'CN=a', issuer: authority, usages: [] }))).toBe(200);
  });

  it.skipIf(!hasOpenssl)(
    "without extensions, as the original's script makes it with OpenSSL, is accepted",
    async () => {
      const [key, request, authorityPem, authorityKey, made] = ['k', 'r', 'a', 'ak', 'm'].map((name) =>
        join(folder, name),
      );
      const openssl = (...args: string[]) => expect([args, spawnSync('openssl', args).status]).toEqual([args, 0]);
      await writeFile(authorityPem!, authority.pem);
      await writeFile(authorityKey!, authority.keyPem);
      openssl('genrsa', '-out', key!, '2048');
      openssl('req', '-new', '-key', key!, '-out', request!, '-subj', '/C=GB/CN=a-client');
      const by = ['-CA', authorityPem!, '-CAkey', authorityKey!, '-set_serial', '101', '-days', '1'];
      openssl('x509', '-req', '-in', request!, '-sha256', ...by, '-out', made!);
      const [pem, keyPem] = [await readFile(made!, 'utf8'), await readFile(key!, 'utf8')];
      expect(await status({ ...press, name: 'CN=a-client,C=GB', pem, keyPem })).toBe(200);
    },
  );

  it('with an extension that nobody needs to know is accepted', async () => {
    const extensions = [unknownExtension(false)];
    expect(await status(await makeCertificate({ name: 'CN=a', issuer: authority, extensions }))).toBe(200);
  });

  it('of an authority of two tenancies is of the one that the request names, and else of neither', async () => {
    const shared = await makeCertificate({ name: 'CN=Shared CA', ca: true });
    await register(shared);
    const client = await makeCertificate({ name: 'CN=a', issuer: shared });
    expect(await status(client)).toBe(200);
    const path = await register(shared, stranger);
    const refused = await ask(ASSETS, client);
    expect([refused.status, JSON.parse(refused.text).description]).toEqual([401, expect.stringContaining(NAMED)]);
    const tenancyOf = async (of: Client) => String((await of.get('/archivist/v1/tenancies/self')).json['identity']);
    for (const [tenancy, of] of [
      [await tenancyOf(owner), owner] as const,
      [await tenancyOf(stranger), stranger] as const,
    ]) {
      const made = await ask(ASSETS, client, {
        method: 'POST',
        headers: { [NAMED]: tenancy },
        body: '{"attributes":{}}',
      });
      const [status, tenant] = [made.status, JSON.parse(made.text)['tenant_identity']];
      expect([status, tenant]).toEqual([200, decodeJwt(of.token)['jit_tenant_id']]);
      expect(await statusIn(press, tenancy)).toBe(of === owner ? 200 : 401);
    }
    expect(await statusIn(client, 'tenancies/x')).toBe(401);
    const own = `(SELECT tenant_id FROM archivist.application WHERE application_id = '${stranger.clientId}')`;
    await running.asOwner(`UPDATE archivist.tenancy SET disabled_at = now() WHERE tenant_id = ${own}`);
    expect(await status(client)).toBe(200);
    await running.asOwner('UPDATE archivist.tenancy SET disabled_at = NULL');
    expect(await status(client)).toBe(401);
    // Each process reads once a second which tenancies are disabled.
    const deleted = await until(
      () => sendRequest(running.url, stranger, 'DELETE', path),
      (answer) => answer.status === 200,
      10_000,
    );
    expect(deleted.status).toBe(200);
    expect(await status(client)).toBe(200);
  });

  it('is not hidden by authorities of the same name that another tenancy registered before', async () => {
    const name = 'CN=Hidden CA';
    const before = Array.from({ length: 50 }, async () =>
      register(await makeCertificate({ name, ca: true }), stranger),
    );
    await Promise.all(before);
    const hidden = await makeCertificate({ name, ca: true });
    await register(hidden);
    expect(await status(await makeCertificate({ name: 'CN=a', issuer: hidden }))).toBe(200);
  });

  it('counts in no header', async () => {
    const oneLine = press.pem.replaceAll('\n', '');
    const headers = { 'x-client-cert': oneLine, 'x-ssl-client-cert': oneLine, 'x-forwarded-client-cert': oneLine };
    expect(await status(undefined, { headers })).toBe(401);
    expect((await running.anonymous.get(ASSETS, headers)).status).toBe(401);
  });

  it('does not count in a request that a page of another origin makes a browser send', async () => {
    const write = (headers: Readonly<Record<string, string>>) =>
      status(press, {
        method: 'POST',
        headers: { 'content-type': 'text/plain', ...headers },
        body: '{"attributes":{}}',
      });
    const own = running.url;
    const refused: Record<string, string>[] = [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: own, 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
    ];
    for (const headers of refused) expect([headers, await write(headers)]).toEqual([headers, 401]);
    expect(await write({ origin: own, 'sec-fetch-site': 'same-origin' })).toBe(200);
    const read = (site: string) => status(press, { headers: { 'sec-fetch-site': site } });
    expect([await read('cross-site'), await read('same-site'), await read('none')]).toEqual([401, 401, 200]);
  });

  it('is not needed for what everybody may read', async () => {
    expect((await ask('/.well-known/jwks.json', undefined)).status).toBe(200);
    expect((await ask('/.well-known/jwks.json', await makeCertificate({ name: 'CN=nobody' }))).status).toBe(200);
  });
});

/** What an application reports of its own capture: a certificate is not one of the tenancy's applications. */
const REPORTS = ['GET /archivist/v1/capture_reports', 'POST /archivist/v1/capture_reports'];

describe('the access table', () => {
  it('holds for a client certificate as for any application of the tenancy, but it reports no capture', async () => {
    const creator = await running.client({});
    const things: Things = await makeThings(running, creator);
    const plain = accessTable.callers.indexOf('plain');
    const wrong: unknown[] = [];
    for (const row of accessTable.rows.filter(({ url }) => url.startsWith('/archivist/'))) {
      const { method, url, headers, body } = requestOf(row, await withFresh(things, row, owner));
      const answer = await ask(url, press, { method, headers, body });
      const sees = row.sees && answer.text.includes(filled(row.sees.text, things));
      const expected = REPORTS.includes(row.route) ? 403 : row.expect[plain];
      if (answer.status !== expected || (row.sees && sees !== row.sees.by[plain]))
        wrong.push([row.route, answer.status, expected, sees]);
    }
    expect(wrong).toEqual([]);
  });

  it('has kept the authority of the tests', async () => {
    expect((await owner.get(registered)).status).toBe(200);
  });
});
