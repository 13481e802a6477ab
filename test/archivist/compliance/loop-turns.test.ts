import { expect, it } from 'vitest';
import { applicablePolicies, readFilters } from '../../../src/archivist/compliance/applicable-policies.js';
import { checkPolicies } from '../../../src/archivist/compliance/check-policies.js';
import type { StoredPolicy } from '../../../src/archivist/compliance/compliance-policy-store.js';
import { turnsDuring } from '../../support/turns-during.js';
import { input, NOW, policy } from './compliance-samples.js';

const stored = (count: number, type: string, given: Record<string, unknown> = {}): StoredPolicy[] =>
  Array.from({ length: count }, (_, place) => ({
    tenantId: 'tenant',
    policyId: String(place),
    createdAt: new Date(NOW),
    policy: policy(type, given),
  }));

it('other requests are served while the filters of thousands of policies are read and compared', async () => {
  const entries = Array.from({ length: 128 }, (_, place) => `attributes.kind=${place}`);
  const policies = stored(5_000, 'COMPLIANCE_SINCE', { asset_filter: [{ or: entries }] });
  expect(await turnsDuring(() => readFilters(policies))).toBeGreaterThan(3);
  const read = await readFilters(policies);
  const compared = async () => {
    for (let asset = 0; asset < 20; asset += 1)
      expect(await applicablePolicies(read, { kind: '127' })).toHaveLength(5_000);
  };
  expect(await turnsDuring(compared)).toBeGreaterThan(3);
});

it('other requests are served while many policies check an asset with many events', async () => {
  const events = Array.from({ length: 10_000 }, (_, place) => `open:v${place}@-${place + 1}`);
  const given = input(...events);
  expect(await turnsDuring(() => checkPolicies(stored(400, 'COMPLIANCE_CURRENT_OUTSTANDING'), given))).toBeGreaterThan(
    10,
  );
});
