import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foreignMap } from '../scitt/foreign-reader.js';
import { spellingsOf } from '../scitt/issuer-spellings.js';
import { authority, DIGITAL_SIGNATURE, sampleCertificate } from '../scitt/sample-certificate.js';
import {
  ALGORITHMS,
  type SampleIssuer,
  type SampleParts,
  sampleIssuer,
  sampleStatement,
} from '../scitt/sample-statement.js';
import { sendCose } from './send-cose.js';
import { sendRequest } from './send-request.js';
import { type Client, startTestService, type TestService } from './test-service.js';

const ANCHORS = '/archivist/v1/scitt/trust_anchors';
const POLICY = '/archivist/v1/scitt/registration_policy';
let running: TestService;
let client: Client;
beforeAll(async () => {
  running = await startTestService({ PLUGIN_PORT: '0' });
  client = await running.client({});
});
afterAll(() => running?.close());

/** The status, and the reason of a refusal. */
async function register(issuer: SampleIssuer, parts: SampleParts, by: Client = client): Promise<[number, unknown?]> {
  const answer = await sendCose(running.url, by, '/entries', sampleStatement(issuer, parts));
  return answer.status === 400 ? [400, foreignMap(answer.bytes).get(-2)] : [answer.status];
}

const jwkOf = ({ publicKey }: SampleIssuer) => publicKey.export({ format: 'jwk' });

describe('a registered issuer', () => {
  const issuer = 'https://registered.example';
  const signer = sampleIssuer();
  const byKid = { issuer, confirmation: false } as const;

  it('signs with its registered key, in its tenancy alone, until it is trusted no longer', async () => {
    expect((await register(signer, byKid))[0]).toBe(400);
    const body = { issuer, public_key: { ...jwkOf(signer), kid: 'testkey' } };
    const { status, json } = await running.owner.post(ANCHORS, body);
    expect([status, json]).toMatchObject([200, { issuer, kid: 'testkey', kind: 'issuer_key' }]);
    expect(await register(signer, byKid)).toEqual([201]);
    const stranger = await running.client({ otherTenancy: true });
    expect((await register(signer, byKid, stranger))[0]).toBe(400);
    const removed = await sendRequest(running.url, running.owner, 'DELETE', `/archivist/v1/scitt/${json['identity']}`);
    expect([removed.status, removed.json]).toEqual([200, {}]);
    expect((await register(signer, { ...byKid, subject: 'vcon://another' }))[0]).toBe(400);
  });

  it('cannot be asserted by another key once it is registered', async () => {
    const taken = 'https://taken.example';
    await running.owner.post(ANCHORS, { issuer: taken, kid: 'testkey', public_key: jwkOf(sampleIssuer()) });
    expect(await register(sampleIssuer(), { issuer: taken })).toMatchObject([400, expect.stringMatching('not verify')]);
  });

  it.each([
    ['the DID of the service', (did: string) => did],
    ['the DID of a tenancy', (did: string) => `${did}:00000000-0000-4000-8000-000000000000`],
    ['the URL of the service', () => running.url],
  ])('is not the service itself, however it is spelled: %s', async (_what, nameOf) => {
    const did = (await running.anonymous.get('/archivist/v1/didweb/did.json')).json['id'] as string;
    for (const [how, issuer] of spellingsOf(nameOf(did))) {
      const anchor = await running.owner.post(ANCHORS, { issuer, public_key: jwkOf(sampleIssuer()) });
      expect([how, anchor.status, anchor.json['description']]).toEqual([how, 400, expect.stringMatching('itself')]);
      const statement = sampleStatement(sampleIssuer(), { issuer });
      for (const path of ['/entries', '/archivist/v1/publicscitt/entries', '/archivist/v1/scitt/entries']) {
        const answer = await sendCose(running.url, running.owner, path, statement);
        expect([how, path, answer.status, new TextDecoder().decode(answer.bytes)]).toEqual([
          how,
          path,
          400,
          expect.stringMatching('service itself'),
        ]);
      }
    }
  });

  it.each<[string, object, RegExp?]>([
    ['a private key', { issuer, public_key: { ...jwkOf(signer), d: 'AAAA' } }],
    ['a key for encryption', { issuer, public_key: { ...jwkOf(signer), use: 'enc' } }, /for signatures/],
    [
      'a key that only derives others',
      { issuer, public_key: { ...jwkOf(signer), key_ops: ['deriveKey'] } },
      /signatures/,
    ],
    ['a key for another algorithm', { issuer, public_key: { ...jwkOf(signer), alg: 'ES384' } }, /usual algorithm/],
    ['no issuer', { public_key: jwkOf(signer) }],
    ['neither key nor certificate', { issuer }],
    ['a certificate of no authority', { certificate: sampleCertificate().pem }],
    ['a certificate that is none', { certificate: 'none' }],
    ['a certificate and an issuer', { issuer, certificate: authority().pem }, /^issuer: must be left out/],
    ['a certificate and a kid', { kid: 'a', certificate: authority().pem }, /^issuer: must be left out/],
  ])('is refused with %s', async (_what, body, says = /./) => {
    const { status, json } = await running.owner.post(ANCHORS, body);
    expect([status, json['description']]).toEqual([400, expect.stringMatching(says)]);
  });

  it('is registered once', async () => {
    const body = { issuer: 'https://once.example', public_key: jwkOf(sampleIssuer()) };
    expect((await running.owner.post(ANCHORS, body)).status).toBe(200);
    expect((await running.owner.post(ANCHORS, body)).status).toBe(409);
  });
});

describe('a certificate authority', () => {
  it('lets the holders of its certificates sign in the names that these hold', async () => {
    const root = authority();
    const uris = ['https://holder.example'];
    const holder = sampleCertificate({ issuedBy: root, uris, usages: [DIGITAL_SIGNATURE] });
    const signer = { algorithm: ALGORITHMS.ES256, publicKey: holder.publicKey, privateKey: holder.privateKey };
    const parts = { issuer: uris[0]!, confirmation: false as const, headers: new Map([[33, holder.der]]) };
    expect((await register(signer, parts))[0]).toBe(400);
    expect((await running.owner.post(ANCHORS, { certificate: root.pem })).json).toMatchObject({
      kind: 'certificate_authority',
      display_name: 'An authority',
    });
    expect(await register(signer, parts)).toEqual([201]);
    expect((await register(signer, { ...parts, issuer: 'https://other.example' }))[0]).toBe(400);
  });

  it('shares its name with so many at most; one that is removed makes room', async () => {
    const owner = await running.client({ roles: ['OWNER'], otherTenancy: true });
    const trust = async (certificate: string) => owner.post(ANCHORS, { certificate });
    const first = await trust(authority().pem);
    for (let made = 1; made < 16; made += 1) expect((await trust(authority().pem)).status).toBe(first.status);
    const another = authority();
    expect(await trust(another.pem)).toMatchObject({
      status: 402,
      json: { error: 'quota_reached', description: expect.stringContaining('16 authorities of this name') },
    });
    expect((await trust(authority({ subject: 'Another name' }).pem)).status).toBe(first.status);
    const id = String(first.json['identity']).split('/').at(-1);
    expect((await sendRequest(running.url, owner, 'DELETE', `${ANCHORS}/${id}`)).status).toBeLessThan(300);
    expect((await trust(another.pem)).status).toBe(first.status);
  });
});

describe('the trust anchors of a tenancy', () => {
  it('are at most 1,000', async () => {
    const owner = await running.client({ roles: ['OWNER'], otherTenancy: true });
    const { json } = await owner.post(ANCHORS, { issuer: 'https://1.example', public_key: jwkOf(sampleIssuer()) });
    const id = String(json['identity']).split('/').at(-1);
    await running.asOwner(
      `INSERT INTO archivist.trust_anchor
       SELECT (jsonb_populate_record(a, jsonb_build_object('anchor_id', gen_random_uuid(), 'issuer', 'x' || n))).*
         FROM archivist.trust_anchor a, generate_series(2, 1000) n WHERE a.anchor_id = '${id}'`,
    );
    const body = { issuer: 'https://another.example', public_key: jwkOf(sampleIssuer()) };
    expect(await owner.post(ANCHORS, body)).toMatchObject({
      status: 402,
      json: { error: 'quota_reached', description: 'A tenancy has at most 1000 trust anchors.' },
    });
    expect((await sendRequest(running.url, owner, 'DELETE', `${ANCHORS}/${id}`)).status).toBe(200);
    expect((await owner.post(ANCHORS, body)).status).toBe(200);
  });
});

describe('an Owner', () => {
  it('may refuse statements whose signer is known by nothing but their own key; the audit says so', async () => {
    const owner = await running.client({ roles: ['OWNER'], otherTenancy: true });
    expect(await register(sampleIssuer(), {}, owner)).toEqual([201]);
    const changed = await sendRequest(running.url, owner, 'PATCH', POLICY, { self_asserted: false });
    expect(changed.json['policy']).toMatchObject({ self_asserted: false });
    expect((await register(sampleIssuer(), {}, owner))[0]).toBe(400);
    const { json } = await owner.get('/archivist/v1/security_events');
    expect(JSON.stringify(json)).toContain('registration_policy.update');
  });
});
