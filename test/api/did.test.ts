import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStatement } from '../../src/core/statement/signed-statement.js';
import { startTestService, type TestService, until } from './test-service.js';

let running: TestService;
beforeAll(async () => {
  running = await startTestService({ PUBLIC_URL: 'https://archivist.example:8443' });
});
afterAll(() => running?.close());

describe('the DID document of the issuer', () => {
  it('is found where did:web looks for it, needs no token, and says every key in full', async () => {
    const { status, headers, json } = await running.anonymous.get('/archivist/v1/didweb/did.json');
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toMatch(/^public, max-age=/);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    const did = 'did:web:archivist.example%3A8443:archivist:v1:didweb';
    expect(json['id']).toBe(did);
    const methods = json['verificationMethod'] as Record<string, Record<string, string>>[];
    expect(methods.length).toBeGreaterThan(0);
    for (const method of methods) {
      expect(method).toMatchObject({ controller: did, type: 'JsonWebKey' });
      expect(method['publicKeyJwk']).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256' });
      expect(method['id']).toBe(`#${method['publicKeyJwk']!['kid']}`);
      expect(Object.keys(method['publicKeyJwk']!)).not.toContain('d');
    }
    expect(json['assertionMethod']).toEqual(methods.map((method) => method['id']));
  });
});

describe('the issuer of a statement', () => {
  const SERVICE = 'did:web:archivist.example%3A8443:archivist:v1:didweb';
  const attributes = {
    subject: 'vcon://0190e3a5-0000-7000-8000-000000000001',
    payload: 'a'.repeat(64),
    payload_hash_alg: 'SHA-256',
  };

  async function issuerOf(path: string): Promise<string | undefined> {
    const signed = await until(
      () => running.owner.get(`${path}/signed-statement`),
      (answer) => answer.status === 200,
      30_000,
    );
    return readStatement(signed.bytes).issuer;
  }

  async function record(isPublic: boolean) {
    const asset = await running.owner.post('/archivist/v2/assets', { public: isPublic });
    return running.owner.post(`/archivist/v2/${asset.json['identity']}/events`, {
      operation: 'Record',
      behaviour: 'RecordEvidence',
      event_attributes: attributes,
    });
  }

  it('is the tenancy whose event it is, also of a public form and of an asset-free event', async () => {
    const [own, open] = [await record(false), await record(true)];
    const tenancy = (own.json['tenant_identity'] as string).replace('tenant/', '');
    const free = await running.owner.post('/archivist/v1/events', { attributes, trails: [], event_type: 'call' });
    for (const path of [
      `/archivist/v2/${own.json['identity']}`,
      `/archivist/v2/public${open.json['identity']}`,
      `/archivist/v1/${free.json['identity']}`,
    ])
      expect(await issuerOf(path)).toBe(`${SERVICE}:${tenancy}`);
  });

  it('has a DID document where did:web looks for it, with the keys of the service; a stranger has none', async () => {
    const { json: event } = await record(false);
    const issuer = (await issuerOf(`/archivist/v2/${event['identity']}`))!;
    const [host, ...path] = issuer.replace('did:web:', '').split(':').map(decodeURIComponent);
    expect(host).toBe('archivist.example:8443');
    const { status, json } = await running.anonymous.get(`/${path.join('/')}/did.json`);
    expect([status, json['id']]).toEqual([200, issuer]);
    const service = (await running.anonymous.get('/archivist/v1/didweb/did.json')).json;
    expect(json['assertionMethod']).toEqual(service['assertionMethod']);
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect((await running.anonymous.get(`/archivist/v1/didweb/${unknown}/did.json`)).status).toBe(404);
  });
});
