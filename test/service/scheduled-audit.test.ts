import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestService, type TestService, template } from '../api/test-service.js';

const PATIENCE = { timeout: 60_000, interval: 250 };
const AUDITS = '/archivist/v1/security_events?action=log.audit';

interface AuditEvent {
  readonly identity: string;
  readonly attributes: {
    readonly outcome: string;
    readonly resource: string;
    readonly actor: { readonly display_name: string };
    readonly details: Readonly<Record<string, unknown>>;
  };
}

describe('the audit by schedule', { timeout: 120_000 }, () => {
  let running: TestService;
  const subject = 'vcon://0190a8c0-0000-7000-8000-0000000000aa';
  beforeAll(async () => {
    running = await startTestService({ AUDIT_SCHEDULE: '* * * * * *', PLUGIN_PORT: '0' });
    const asset = await running.owner.post('/archivist/v2/assets', { attributes: { subject } });
    const path = `/archivist/v2/${String(asset.json['identity'])}/events`;
    const event = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: template(subject) };
    await running.owner.post(path, event);
  }, 120_000);
  afterAll(() => running?.close());

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${running.url}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find((each) => each.startsWith(`${name} `))
        ?.slice(name.length + 1),
    );
  }

  async function audits(): Promise<AuditEvent[]> {
    const { json } = await running.owner.get(AUDITS);
    return json['security_events'] as AuditEvent[];
  }

  const changed = (undo: boolean) =>
    running.asOwner(
      `UPDATE archivist.asset_event SET behaviour = '${undo ? 'RecordEvidence' : 'Forged'}'
        WHERE behaviour = '${undo ? 'Forged' : 'RecordEvidence'}'`,
    );

  it('is an event of the tenancy with a receipt: up to which leaf and seal, and what was found', async () => {
    await vi.waitFor(async () => expect(await audits()).not.toEqual([]), PATIENCE);
    const [event] = await audits();
    const { outcome, resource, actor, details } = event!.attributes;
    expect([outcome, actor.display_name, details['faults']]).toEqual(['success', 'Archivist Internal', '0']);
    expect(resource).toMatch(/^logs\/[0-9a-f-]{36}$/);
    expect([Number(details['leaves']) > 0, Number(details['seal']) > 0]).toEqual([true, true]);
    const receipt = `/archivist/v1/${event!.identity}/receipt`;
    await vi.waitFor(async () => expect((await running.owner.get(receipt)).status).toBe(200), PATIENCE);
  });

  it('records nothing new about a log in which nothing new is, also of one without entries', async () => {
    const other = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    // Entries that were accepted before the first audit can still be on their way into the log.
    await vi.waitFor(async () => {
      const known = (await audits())[0]!.identity;
      const ended = await metric('archivist_audit_timestamp_seconds');
      await vi.waitFor(
        async () => expect(await metric('archivist_audit_timestamp_seconds')).toBeGreaterThan(ended + 2),
        PATIENCE,
      );
      expect((await audits())[0]!.identity).toBe(known);
    }, PATIENCE);
    expect((await other.get(AUDITS)).json['security_events']).toEqual([]);
  });

  it('raises the metric for a fault and records it, and clears the metric when the fault is gone', async () => {
    await changed(false);
    await vi.waitFor(async () => expect(await metric('archivist_audit_faults')).toBeGreaterThan(0), PATIENCE);
    const [faulty] = await audits();
    expect(faulty!.attributes.outcome).toBe('failure');
    expect(JSON.stringify(faulty!.attributes.details['first_faults'])).toMatch(/differs from what its entries give/);
    await changed(true);
    await vi.waitFor(async () => expect(await metric('archivist_audit_faults')).toBe(0), PATIENCE);
    expect((await audits())[0]!.attributes.outcome).toBe('success');
  });

  it('gives no verdict in a process that still runs when a newer version has migrated the database', async () => {
    const ended = () => metric('archivist_audit_timestamp_seconds');
    await running.asOwner(
      `INSERT INTO archivist.schema_migration (name, run_on) VALUES ('999999_newer', now()) ON CONFLICT DO NOTHING`,
      `CREATE OR REPLACE FUNCTION archivist.newer() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
    );
    // One may just have passed the schema, and takes its time on a busy machine.
    await vi.waitFor(async () => {
      const before = [await ended(), await metric('archivist_audit_faults')];
      await wait(3_000);
      expect([await ended(), await metric('archivist_audit_faults')]).toEqual(before);
    }, PATIENCE);
    expect(await metric('archivist_audit_faults')).toBe(0);
    await running.asOwner(`DELETE FROM archivist.schema_migration WHERE name = '999999_newer'`);
    await vi.waitFor(async () => expect(await metric('archivist_audit_faults')).toBe(1), {
      ...PATIENCE,
      timeout: 100_000,
    });
  });
});
