import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAssets } from '../../../src/archivist/assets/asset-store.js';
import { shownAssets, shownPortion } from '../../../src/archivist/assets/see-asset.js';
import { assetView } from '../../../src/iam/access/asset-view.js';
import type { PastShowing } from '../../../src/iam/access/past-grant.js';
import type { Principal } from '../../../src/platform/http/principal.js';
import type { Tx } from '../../../src/platform/postgres/database.js';
import { collectGarbage } from '../../support/collect-garbage.js';
import { engines, type TestDatabase } from '../../support/engines.js';

const TENANT = '0190a8c0-0000-7000-8000-00000000000a';
const ASSET = '0190a8c0-0000-7000-8000-0000000000aa';
const START = Date.parse('2026-11-20T10:00:00Z');
const SHARES = 20;
/** With this in each of them, three past states are a portion. */
const SECRET = 800_000;
const A_PORTION = 3;
const who = `'{"issuer": "https://idp.example", "subject": "agent", "display_name": "", "email": ""}'`;

/** An asset of which each minute sets one attribute more, the first one also a long one. */
const INSERT = `
  WITH asset AS (INSERT INTO archivist.asset (tenant_id, asset_id, origin_tenant_id, new_asset_event_id, attributes,
      behaviours, proof_mechanism, public, tracked, owner, creator_issuer, creator_subject, created_at)
    VALUES ('${TENANT}', '${ASSET}', '${TENANT}', '${TENANT}', '{"now": "new"}', '{RecordEvidence}', 'MERKLE_LOG', false,
      true, '0x00', 'https://idp.example', 'agent', to_timestamp(${START / 1000})))
  INSERT INTO archivist.asset_event (tenant_id, event_id, asset_id, origin_tenant_id, operation, behaviour,
      event_attributes, asset_attributes, principal_declared, principal_accepted, timestamp_declared, timestamp_accepted,
      accepted_at, from_address)
    SELECT '${TENANT}', lpad(to_hex(n + 1), 32, '0')::uuid, '${ASSET}', '${TENANT}', 'Record', 'RecordEvidence', '{}',
      jsonb_build_object('shared ' || n, n) ||
        CASE WHEN n = 0 THEN jsonb_build_object('secret', repeat('x', ${SECRET})) ELSE '{}' END,
      ${who}, ${who}, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z',
      to_timestamp(${START / 1000} + n * 60), '0x00' FROM generate_series(0, ${SHARES - 1}) AS n`;

const READER: Principal = {
  tenantId: '0190a8c0-0000-7000-8000-00000000000b',
  issuer: 'https://idp.example',
  subject: 'reader',
  displayName: '',
  email: '',
  roles: ['OWNER'],
  claims: {},
};

/** A share that ended after so many minutes. */
function ended(minute: number, attributes: readonly string[] | 'all'): PastShowing {
  return {
    attributesRead: attributes === 'all' ? 'all' : new Set(attributes),
    kindsRead: new Set(),
    behaviours: new Set(),
    until: new Date(START + minute * 60_000),
  };
}
const MINUTES = Array.from({ length: SHARES }, (_, minute) => minute);

/** A transaction that counts the past states that were read, and the most that were in memory at a later statement. */
function watchedStates(tx: Tx) {
  const read: WeakRef<object>[] = [];
  let mostHeld = 0;
  const watched: Tx = {
    execute: (...statement) => tx.execute(...statement),
    query: async (text, values) => {
      collectGarbage();
      mostHeld = Math.max(mostHeld, read.filter((state) => state.deref() !== undefined).length);
      const rows = await tx.query(text, values);
      for (const { attributes } of rows as { attributes: object }[]) read.push(new WeakRef(attributes));
      return rows as never;
    },
  };
  return { tx: watched, read: () => read.length, mostHeld: () => mostHeld };
}

/** How often this connection has made the attributes of a past moment. */
async function callsOf(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ calls: number }>(
    `SELECT coalesce(pg_stat_get_xact_function_calls(
       'archivist.attributes_at(uuid, uuid, timestamptz)'::regprocedure), 0)::int AS calls`,
  );
  return row!.calls;
}

describe.each(engines())('of the past states of an asset with many ended shares, on %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
    await opened.asOwner(INSERT);
  });
  afterAll(() => opened?.close());

  /** Shows the asset to a reader of these ended shares, and counts the states that the database made for it. */
  async function show(past: readonly PastShowing[], how: 'whole' | 'portion' = 'whole') {
    return opened.database.inTransaction({ read: [TENANT], write: [] }, async (tx) => {
      const [own] = await tx.query<{ role: string }>('SELECT quote_ident(current_user) AS role');
      // Only a superuser may count calls of functions.
      await tx.execute('SET LOCAL ROLE NONE');
      await tx.execute("SET LOCAL track_functions = 'all'");
      await tx.execute(`SET LOCAL ROLE ${own!.role}`);
      const [asset] = await findAssets(tx, [{ tenantId: TENANT, assetId: ASSET }]);
      const seen = [{ asset: asset!, view: assetView(READER, asset!, [], past) }];
      const watched = watchedStates(tx);
      const before = await callsOf(tx);
      const [shown] =
        how === 'whole' ? await shownAssets(watched.tx, seen) : (await shownPortion(watched.tx, seen)).rows;
      const made = (await callsOf(tx)) - before;
      return { ...shown!, made, read: watched.read(), mostHeld: watched.mostHeld() };
    });
  }

  it.each(['whole', 'portion'] as const)(
    'each is made once, and two portions at most are in memory (%s)',
    async (how) => {
      const { attributes, asOf, ...counted } = await show(
        MINUTES.map((minute) => ended(minute, [`shared ${minute}`])),
        how,
      );
      expect(attributes).toEqual(Object.fromEntries(MINUTES.map((minute) => [`shared ${minute}`, minute])));
      expect(asOf).toEqual(new Date(START + (SHARES - 1) * 60_000));
      expect(counted).toMatchObject({ made: SHARES, read: SHARES });
      expect(counted.mostHeld).toBeLessThanOrEqual(2 * A_PORTION);
    },
  );

  it('only those are read of which something is shown: the last one of what several showed', async () => {
    const same = await show(MINUTES.map((minute) => ended(minute, ['shared 0', 'shared 1'])));
    expect([same.attributes, same.read, same.made]).toEqual([{ 'shared 0': 0, 'shared 1': 1 }, 1, 1]);
    const last = SHARES - 1;
    const everything = await show([...MINUTES.map((minute) => ended(minute, 'all')), ended(last + 1, ['shared 0'])]);
    expect([Object.keys(everything.attributes).length, everything.read]).toEqual([SHARES + 1, 2]);
    const kinds = { ...ended(last + 2, []), kindsRead: 'all' as const };
    expect(await show([ended(3, ['shared 1']), kinds])).toMatchObject({
      attributes: { 'shared 1': 1 },
      asOf: kinds.until,
      read: 2,
    });
  });
});
