import { expect, vi } from 'vitest';
import type { TestService } from '../api/test-service.js';

/** Records an event, and waits until a cosigned checkpoint covers a seal over it. Resolves with its tenancy's uuid. */
export async function recordWitnessedEvent({ owner }: Pick<TestService, 'owner'>): Promise<string> {
  const asset = await owner.post('/archivist/v2/assets', { attributes: {} });
  const event = await owner.post(`/archivist/v2/${asset.json['identity']}/events`, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: {},
  });
  await vi.waitFor(
    async () => {
      const { json } = await owner.get(`/archivist/v2/${event.json['identity']}`);
      expect(json['confirmation_status']).toBe('UNEQUIVOCAL');
    },
    { timeout: 60_000, interval: 200 },
  );
  return String(asset.json['tenant_identity']).slice('tenant/'.length);
}
