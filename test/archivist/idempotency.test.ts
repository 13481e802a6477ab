import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { idempotencyClaim } from '../../src/archivist/idempotency/idempotency.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const principal = {
  tenantId: 'b3f2a1de-6f5e-4f65-8d2e-0a4d5d1c9e70',
  issuer: 'https://archivist.example/appidpv1',
  subject: 'client',
  displayName: '',
  email: '',
  claims: {},
  roles: [],
};

test('a claim has the scope that earlier versions have stored, so that a retry after an upgrade creates nothing new', () => {
  const claim = idempotencyClaim({ principal, path: '/archivist/v1/events', rawBody: '{}', idempotencyKey: 'key' })!;
  const scope = '["https://archivist.example/appidpv1","client","POST","/archivist/v1/events","key"]';
  expect(Buffer.from(claim.scope).toString('hex')).toBe(sha256(scope));
  expect(Buffer.from(claim.bodyHash).toString('hex')).toBe(sha256('{}'));
});
