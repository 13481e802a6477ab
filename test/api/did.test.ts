import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from './test-service.js';

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
