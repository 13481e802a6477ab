import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import { authority as authorityWith, sequence } from '../scitt/sample-certificate.js';
import { sendRequest } from './send-request.js';
import { type Identity, makeCertificate } from './test-certificates.js';
import { type Client, startTestService, type TestService } from './test-service.js';

const CERTIFICATES = '/archivist/v1/tlscacertificates';
let running: TestService;
let owner: Client;
let stranger: Client;
let authority: Identity;
beforeAll(async () => {
  running = await startTestService({ QUOTAS: 'tls_ca_certificates=6' });
  owner = running.owner;
  stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
  authority = await makeCertificate({ name: 'CN=Acme CA, O=Acme', ca: true });
});
afterAll(() => running?.close());

const create = (body: unknown, client = owner) => client.post(CERTIFICATES, body);
const send = (method: 'PATCH' | 'DELETE', path: string, body?: unknown, client = owner) =>
  sendRequest(running.url, client, method, path, body);

describe('a TLS CA certificate', () => {
  it('is made, read, changed, listed and deleted, under both names of its fields', async () => {
    const made = await create({ display_name: 'Acme', tlscacertificate: authority.pem });
    expect(made.status).toBe(200);
    expect(made.json).toEqual({
      identity: expect.stringMatching(/^tlscacertificates\/[0-9a-f-]{36}$/),
      display_name: 'Acme',
      tlscacertificate: authority.pem,
      certificate: authority.pem,
    });
    const path = `/archivist/v1/${made.json['identity']}`;
    expect((await owner.get(path)).json).toEqual(made.json);
    const changed = { ...made.json, display_name: 'Acme Ltd' };
    expect((await send('PATCH', path, { display_name: 'Acme Ltd' })).json).toEqual(changed);
    const listed = await owner.get(`${CERTIFICATES}?display_name=Acme%20Ltd`);
    expect(listed.json).toEqual({ tlscacertificates: [changed], certificates: [changed], next_page_token: '' });
    expect(listed.headers.get('x-total-count')).toBe('1');
    const deleted = await send('DELETE', path);
    expect([deleted.status, deleted.json]).toEqual([200, {}]);
    expect((await owner.get(path)).status).toBe(404);
    expect((await send('DELETE', path)).status).toBe(404);
  });

  it('is taken under the other name, and with its line breaks written out', async () => {
    const written = authority.pem.replaceAll('\n', '\\n');
    for (const body of [{ certificate: authority.pem }, { tlscacertificate: written }]) {
      const made = await create({ display_name: 'Acme', ...body });
      expect(made.status).toBe(200);
      await send('DELETE', `/archivist/v1/${made.json['identity']}`);
    }
  });

  it('is replaced under either name in the record that was read, which has the old one under the other', async () => {
    const next = authorityWith({});
    for (const name of ['certificate', 'tlscacertificate']) {
      const { json } = await create({ display_name: 'Acme', tlscacertificate: authority.pem });
      const path = `/archivist/v1/${json['identity']}`;
      const { status, json: changed } = await send('PATCH', path, { ...json, [name]: next.pem });
      expect([status, changed['certificate'], changed['tlscacertificate']]).toEqual([200, next.pem, next.pem]);
      const two = await send('PATCH', path, { certificate: authority.pem, tlscacertificate: `${authority.pem}\n` });
      expect([two.status, two.json['description']]).toEqual([400, expect.stringMatching(/^certificate: differs from/)]);
      await send('DELETE', path);
    }
  });

  it('is refused unless it is one certificate of an authority in its validity', async () => {
    const leaf = await makeCertificate({ name: 'CN=a', issuer: authority });
    const old = await makeCertificate({ name: 'CN=a', ca: true, notAfter: new Date(Date.now() - 1000) });
    const later = await makeCertificate({
      name: 'CN=a',
      ca: true,
      notBefore: new Date(Date.now() + 60_000),
      notAfter: new Date(Date.now() + 120_000),
    });
    const key = newKeyPair({ type: 'ed25519' }).publicKey.export({ type: 'spki', format: 'pem' }) as string;
    const wrong: [string | undefined, RegExp][] = [
      [leaf.pem, /^tlscacertificate: must be of a certification authority/],
      [old.pem, /^tlscacertificate: has expired/],
      [later.pem, /^tlscacertificate: is not valid yet/],
      [`${authority.pem}\n${leaf.pem}`, /^tlscacertificate: must be one certificate in PEM/],
      [`${authority.pem}\n${authority.keyPem}`, /^tlscacertificate: must be one certificate in PEM/],
      [authority.keyPem, /^tlscacertificate: must be one/],
      [key, /^tlscacertificate: must be one/],
      [authority.pem.replace('MII', 'MIA'), /^tlscacertificate: must be one/],
      ['', /^tlscacertificate: must be one/],
      ['x'.repeat(20_000), /^tlscacertificate/],
      [undefined, /^tlscacertificate: is missing/],
      [authorityWith({ subjectName: sequence() }).pem, /^tlscacertificate: must have a subject$/],
      [authorityWith({ strange: 99 }).pem, /^tlscacertificate: cannot be used: .*critical/],
      [authorityWith({ key: 1024 }).pem, /^tlscacertificate: cannot be used: .*RSA/],
    ];
    for (const [pem, reason] of wrong) {
      const answer = await create({ display_name: 'Wrong', tlscacertificate: pem });
      expect([answer.status, answer.json['description']]).toEqual([400, expect.stringMatching(reason)]);
    }
    const two = await create({ display_name: 'Two', tlscacertificate: authority.pem, certificate: leaf.pem });
    expect([two.status, two.json['description']]).toEqual([400, expect.stringMatching(/^certificate: differs from/)]);
    expect((await create({ tlscacertificate: authority.pem })).status).toBe(400);
  });

  it('is listed newest first, or by name', async () => {
    const paths: string[] = [];
    for (const display_name of ['A', 'B']) {
      const { json } = await create({ display_name, tlscacertificate: authority.pem });
      paths.push(`/archivist/v1/${json['identity']}`);
    }
    const names = async (query: string) => {
      const { json } = await owner.get(`${CERTIFICATES}${query}`);
      return (json['certificates'] as { display_name: string }[]).map((each) => each.display_name);
    };
    expect(await names('?order_by=DEFAULT')).toEqual(['B', 'A']);
    expect(await names('?order_by=DISPLAY_NAME')).toEqual(['A', 'B']);
    expect((await owner.get(`${CERTIFICATES}?order_by=SIZE`)).status).toBe(400);
    for (const path of paths) await send('DELETE', path);
  });

  it('is not there for another tenancy', async () => {
    const made = await create({ display_name: 'Acme', tlscacertificate: authority.pem });
    const path = `/archivist/v1/${made.json['identity']}`;
    expect((await stranger.get(path)).status).toBe(404);
    expect((await send('PATCH', path, { display_name: 'Mine' }, stranger)).status).toBe(404);
    expect((await send('DELETE', path, undefined, stranger)).status).toBe(404);
    expect((await stranger.get(CERTIFICATES)).json['tlscacertificates']).toEqual([]);
  });

  it('is 402 when the quota is reached, and an entry of the audit when it is made', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 7; count += 1)
      statuses.push((await create({ display_name: 'Many', tlscacertificate: authority.pem }, stranger)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 402]);
    const { json } = await stranger.get('/archivist/v1/security_events?action=tls_ca_certificate.create');
    const outcomes = (json['security_events'] as { attributes: { outcome: string } }[]).map(
      ({ attributes }) => attributes.outcome,
    );
    expect(outcomes).toEqual(['failure', ...Array(6).fill('success')]);
  });
});
