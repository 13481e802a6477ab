import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { faultsOfAudit } from './faults-of-audit.js';
import { sendCose } from './send-cose.js';
import { startTestService, type TestService } from './test-service.js';

const LONG = 'long '.repeat(100);
/** All that are stored: the others are made from them. */
const COLUMNS = {
  asset: `tenant_id, asset_id, origin_tenant_id, new_asset_event_id, attributes, behaviours, proof_mechanism, public, tracked,
    owner, creator_issuer, creator_subject, created_at`,
  asset_free_event_trail: 'tenant_id, trail_start, event_id',
};
let running: TestService;
let shown: string;
let hidden: string;
let stopped: string;
let free: string;

const uuidOf = (identity: unknown) => String(identity).split('/').at(-1)!;
const audit = () => faultsOfAudit(running);

beforeAll(async () => {
  running = await startTestService();
  const { owner } = running;
  const asset = async (body: Record<string, unknown>) =>
    uuidOf((await owner.post('/archivist/v2/assets', body)).json['identity']);
  const record = async (of: string, operation: string, colour?: string) => {
    const made = await owner.post(`/archivist/v2/assets/${of}/events`, {
      operation,
      behaviour: operation === 'Record' ? 'RecordEvidence' : 'Builtin',
      asset_attributes: colour === undefined ? {} : { colour, nested: { part: colour } },
    });
    expect(made.status).toBe(200);
  };
  shown = await asset({ public: true, attributes: { colour: 'red' } });
  hidden = await asset({ proof_mechanism: 'SIMPLE_HASH', attributes: { colour: 'red' } });
  await asset({ public: true, proof_mechanism: 'SIMPLE_HASH' });
  stopped = await asset({});
  const resumed = await asset({ public: true });
  for (const of of [shown, hidden]) await Promise.all(['a', 'b', 'c'].map((colour) => record(of, 'Record', colour)));
  await record(stopped, 'StopTracking');
  for (const operation of ['StopTracking', 'StartTracking', 'StopTracking', 'Record'])
    await record(resumed, operation, 'green');
  const made = await owner.post('/archivist/v1/events', {
    attributes: { note: 'consent_revoked' },
    trails: ['vcon://2', 'vcon://2', '', LONG, `${LONG}er`, '😀'.repeat(300)],
  });
  free = uuidOf(made.json['identity']);
  await owner.post('/archivist/v1/events', { attributes: { note: 'no trail' } });
  await owner.post('/archivist/v1/events', { attributes: { note: 'another' }, trails: ['vcon://2'] });
  const other = await running.client({ otherTenancy: true, roles: ['OWNER'] });
  for (const [client, path] of [
    [owner, '/archivist/v1/publicscitt/entries'],
    [other, '/archivist/v1/scitt/entries'],
    [other, '/archivist/v1/publicscitt/entries'],
  ] as const)
    expect((await sendCose(running.url, client, path, sampleStatement(sampleIssuer()))).status).toBe(200);
}, 120_000);
afterAll(() => running?.close());

describe('the audit of the rows by which events are found', () => {
  it('finds nothing where assets are public, registered, untracked, tracked again or anchored, and trails long or doubled', async () => {
    expect(await audit()).toEqual([]);
  }, 60_000);

  const ofAsset = (id: () => string) => () => `asset_id = '${id()}'`;
  const ofEvent = () => `event_id = '${free}'`;
  it.each([
    ['the row of an asset is gone', 'asset', ofAsset(() => hidden), undefined, 'and no row'],
    ['both rows of a public asset are gone', 'asset', ofAsset(() => shown), undefined, 'and no row'],
    ['a public asset is private', 'asset', ofAsset(() => shown), 'public = false', 'is not public'],
    ['a private asset is public', 'asset', ofAsset(() => hidden), 'public = true', 'is public'],
    ['an asset is untracked', 'asset', ofAsset(() => hidden), 'tracked = false', 'is not tracked'],
    ['an asset is tracked again', 'asset', ofAsset(() => stopped), 'tracked = true', 'is tracked'],
    ['an asset has another creator', 'asset', ofAsset(() => hidden), `creator_subject = 'x'`, 'another creator'],
    [
      'an asset has a value that no event gave it',
      'asset',
      ofAsset(() => hidden),
      `attributes = attributes || '{"colour": "x"}'`,
      'different attributes',
    ],
    [
      'an asset lacks an attribute that an event gave it',
      'asset',
      ofAsset(() => hidden),
      `attributes = attributes - 'nested'`,
      'different attributes',
    ],
    ['the trails of an event are gone', 'asset_free_event_trail', ofEvent, undefined, 'is hidden'],
    [
      'an event is under another trail',
      'asset_free_event_trail',
      () => `${ofEvent()} AND trail_start = 'vcon://2'`,
      `trail_start = 'vcon://3'`,
      'does not have',
    ],
  ] as const)(
    'finds that %s',
    async (_, table, where, change, fault) => {
      const rows = `archivist.${table} WHERE ${where()}`;
      const columns = COLUMNS[table];
      await running.asOwner(`CREATE TABLE archivist.aside AS SELECT ${columns} FROM ${rows}`);
      await running.asOwner(
        change === undefined ? `DELETE FROM ${rows}` : `UPDATE archivist.${table} SET ${change} WHERE ${where()}`,
      );
      const faults = await audit();
      const undo = table === 'asset' ? where() : ofEvent();
      const all = change === undefined ? undo : where().replace('vcon://2', 'vcon://3');
      await running.asOwner(`DELETE FROM archivist.${table} WHERE ${all}`);
      await running.asOwner(`INSERT INTO archivist.${table} (${columns}) SELECT ${columns} FROM archivist.aside`);
      await running.asOwner('DROP TABLE archivist.aside');
      expect(faults).toContainEqual(expect.stringContaining(fault));
      expect(await audit()).toEqual([]);
    },
    60_000,
  );

  it('finds that an asset has an older value in place of one that was given an hour later', async () => {
    const columns = `tenant_id, asset_id, origin_tenant_id, operation, behaviour, event_attributes, principal_declared,
      principal_accepted, timestamp_declared, timestamp_accepted, from_address`;
    await running.asOwner(
      `INSERT INTO archivist.asset_event (${columns}, event_id, asset_attributes, accepted_at)
       SELECT ${columns}, gen_random_uuid(), '{"colour": "newest"}', accepted_at + interval '1 hour'
         FROM archivist.asset_event WHERE asset_id = '${hidden}' AND operation = 'Record' LIMIT 1`,
    );
    const later = `archivist.asset_event WHERE asset_attributes ->> 'colour' = 'newest'`;
    const colours = (faults: readonly string[]) => faults.filter((fault) => fault.includes('different attributes'));
    expect(colours(await audit())).toEqual([expect.stringContaining(hidden)]);
    await running.asOwner(
      `UPDATE archivist.asset SET attributes = attributes || '{"colour": "newest"}' WHERE asset_id = '${hidden}'`,
    );
    expect(colours(await audit())).toEqual([]);
    await running.asOwner(`DELETE FROM ${later}`);
  }, 60_000);
});
