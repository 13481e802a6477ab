import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportCapture } from '../../src/archivist/captures/report-capture.js';
import type { Principal } from '../../src/platform/http/principal.js';
import type { Database, Tx } from '../../src/platform/postgres/database.js';
import { createPageTokens } from '../../src/platform/postgres/page-token.js';
import { onServer } from '../support/engines.js';
import { type Client, startTestService, type TestService } from './test-service.js';

const WEBHOOKS = '/archivist/iam/v1/webhooks';
const PATIENCE = { timeout: 60_000, interval: 20 };
const READ = /FROM archivist\.capture_report c/;

let running: TestService;
let plugin: Client;
let caller: Principal;
beforeAll(async () => {
  running = await startTestService();
  plugin = await running.client({});
  const answer = await running.owner.post(WEBHOOKS, {
    display_name: 'dead letters',
    url: 'https://receiver.example/',
    event_types: ['capture.dead_letters'],
  });
  expect(answer.status, String(answer.json['description'])).toBe(200);
  const claims = JSON.parse(Buffer.from(plugin.token.split('.')[1]!, 'base64url').toString());
  caller = {
    ...{ kind: 'application', issuer: claims.iss, subject: plugin.clientId, displayName: '', email: '' },
    ...{ tenantId: String(claims.jit_tenant_id).slice('tenant/'.length), roles: [], claims: {} },
  };
});
afterAll(() => running?.close());

/** Holds each of two reports after it has read the last one, until the other has read it or waits for its lock. */
function meeting(database: Database): Database {
  let read = 0;
  const met = async () => {
    read += 1;
    // The embedded engine runs one transaction at a time.
    if (database.connections === 1) return;
    await expect.poll(async () => read > 1 || (await waiting()) > 0, PATIENCE).toBe(true);
  };
  const watched = (tx: Tx): Tx => ({
    ...tx,
    async query(text, values) {
      const rows = await tx.query(text, values);
      if (READ.test(text)) await met();
      return rows as never;
    },
  });
  return { ...database, inTransaction: (scope, work) => database.inTransaction(scope, (tx) => work(watched(tx))) };
}

/** Reports that wait for another transaction. */
async function waiting(): Promise<number> {
  const rows = await onServer(
    running.environment['DATABASE_URL']!,
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        AND query LIKE '%archivist.capture_report%'`,
  );
  return rows.length;
}

interface Told {
  readonly about: { readonly data: { readonly source: string; readonly letters: readonly { readonly job: string }[] } };
}

/** The dead letters of a queue that webhooks are told of, each as often as they are told. */
async function told(source: string): Promise<string[]> {
  const rows = await running.service.parts.database.inTransaction('system', (tx) =>
    tx.query<Told>(`SELECT about FROM archivist.webhook_delivery WHERE event_type = 'capture.dead_letters'`),
  );
  const own = rows.filter(({ about }) => about.data.source === source);
  return own.flatMap(({ about }) => about.data.letters.map(({ job }) => job[0]!)).sort();
}

const letter = (digit: string, minute: string) => ({
  ...{ job: digit.repeat(64), operation: 'vcon_created', failed_at: `2026-11-22T09:${minute}:00Z` },
});

describe('two differing reports of one queue at once', () => {
  it.each([
    ['after an earlier report', true],
    ['as its first ones', false],
  ])('tell each dead letter once and leave the later state, %s', async (_, isKnown) => {
    const { database, clock, ids } = running.service.parts;
    const source = ids.uuid();
    const report = (db: Database, observed: string, letters: ReturnType<typeof letter>[]) =>
      reportCapture({ database: db, clock, ids, pageTokens: createPageTokens(ids.randomBytes(32)) }, caller, {
        ...{ source, observed_at: `2026-11-22T${observed}:00Z`, depth: letters.length, oldest_seconds: 1 },
        ...{ dead_letters: letters.length, exact: true, letters, gaps: [] },
      });
    if (isKnown) await report(database, '10:00', []);
    const held = meeting(database);
    const [first, second] = [letter('a', '00'), letter('b', '05')];
    await Promise.all([report(held, '10:01', [first]), report(held, '10:02', [first, second])]);
    expect(await told(source)).toEqual(['a', 'b']);
    const { json } = await plugin.get('/archivist/v1/capture_reports');
    const reports = json['capture_reports'] as { source: string; dead_letters: number }[];
    expect(reports.filter((each) => each.source === source)).toMatchObject([{ dead_letters: 2 }]);
  });
});
