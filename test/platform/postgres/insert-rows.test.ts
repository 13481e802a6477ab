import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selected, table } from '../../../src/platform/postgres/columns.js';
import type { Tx } from '../../../src/platform/postgres/database.js';
import { insertReturning, insertRows } from '../../../src/platform/postgres/insert-rows.js';
import { engines, type TestDatabase } from '../../support/engines.js';

const TENANCY = '0190a8c0-0000-7000-8000-00000000000a';
const uuid = (number: number) => `0190a8c0-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;

interface Place {
  readonly tenantId: string;
  readonly locationId: string;
  readonly displayName: string;
  readonly description: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly attributes: unknown;
  readonly subjects: readonly string[];
  readonly createdAt: Date;
}

const PLACE = table('location').columns<Place>({
  tenantId: 'tenant_id',
  locationId: 'location_id',
  displayName: 'display_name',
  description: 'description',
  latitude: 'latitude',
  longitude: 'longitude',
  attributes: 'attributes',
  subjects: 'subject_identities',
  createdAt: 'created_at',
});

interface Key {
  readonly tenantId: string;
  readonly keyId: string;
  readonly role: string;
  readonly algorithm: string;
  readonly publicJwk: unknown;
  readonly state: string;
  readonly validFrom: Date;
  readonly validUntil: Date | null;
  readonly certificate: Uint8Array | null;
}

const KEY = table('signing_key').columns<Key>({
  tenantId: 'tenant_id',
  keyId: 'key_id',
  role: 'role',
  algorithm: 'algorithm',
  publicJwk: 'public_jwk',
  state: 'state',
  validFrom: 'valid_from',
  validUntil: 'valid_until',
  certificate: 'certificate',
});

const TENANCIES = table('tenancy').columns<{ tenantId: string; kind: string; name: string; wallet: string; at: Date }>({
  tenantId: 'tenant_id',
  kind: 'kind',
  name: 'display_name',
  wallet: 'wallet_address',
  at: 'created_at',
});

const place = (number: number, more: Partial<Place> = {}): Place => ({
  tenantId: TENANCY,
  locationId: uuid(number),
  displayName: `place ${number}`,
  description: '',
  latitude: 1.5,
  longitude: -0.1,
  attributes: {},
  subjects: [],
  createdAt: new Date('2026-01-02T03:04:05.678Z'),
  ...more,
});

describe.each(engines())('rows that are inserted in %s', (engine) => {
  let opened: TestDatabase;
  const within = <T>(work: (tx: Tx) => Promise<T>) => opened.database.inTransaction('system', work);
  const places = (from: number) =>
    within((tx) =>
      tx.query<Place>(
        `SELECT ${selected(PLACE, 'l')} FROM archivist.location l WHERE l.location_id >= $1 ORDER BY l.location_id`,
        [uuid(from)],
      ),
    );
  beforeAll(async () => {
    opened = await engine.open();
    const owner = { tenantId: TENANCY, kind: 'organisation', name: 'n', wallet: '0x', at: new Date(0) };
    await within((tx) => insertRows(tx, TENANCIES, [owner]));
  });
  afterAll(() => opened.close());

  it('are read as they were written, with every character that arrays and JSON give a meaning', async () => {
    const texts = ['', 'NULL', 'null', '"', '\\', '\\"', '{a,b}', "'; --", 'é 🗝', '\u2028\t\r\n', ' padded '];
    const rows = texts.map((text, number) =>
      place(number, {
        displayName: text,
        description: text.repeat(3),
        latitude: number / 3,
        longitude: -1e-7,
        attributes: { [text]: [text, null, number, { deep: text }] },
        subjects: [text, text],
      }),
    );
    expect(await within((tx) => insertRows(tx, PLACE, rows))).toBe(rows.length);
    expect(await places(0)).toEqual(rows);
  });

  it('may have NULL where the schema has it, and bytes', async () => {
    const key = { tenantId: TENANCY, role: 'es256', algorithm: 'ES256', state: 'active', validFrom: new Date(5) };
    const rows = [
      { ...key, keyId: 'a', publicJwk: { kty: 'EC' }, validUntil: null, certificate: null },
      {
        ...key,
        state: 'retired',
        keyId: 'b',
        publicJwk: {},
        validUntil: new Date(9),
        certificate: Uint8Array.of(0, 255, 92, 34),
      },
    ];
    await within((tx) => insertRows(tx, KEY, rows));
    const stored = await within((tx) =>
      tx.query<Key>(`SELECT ${selected(KEY, 'k')} FROM archivist.signing_key k ORDER BY k.key_id`),
    );
    expect(stored.map((row) => ({ ...row, certificate: row.certificate && Uint8Array.from(row.certificate) }))).toEqual(
      rows,
    );
  });

  it('are inserted once each where they need several statements, and none without rows', async () => {
    const rows = Array.from({ length: 60 }, (_, number) =>
      place(1_000 + number, { attributes: { text: 'x'.repeat(30_000) } }),
    );
    expect(await within((tx) => insertRows(tx, PLACE, rows))).toBe(60);
    expect((await places(1_000)).map(({ locationId }) => locationId)).toEqual(rows.map(({ locationId }) => locationId));
    expect(await within((tx) => insertRows(tx, PLACE, []))).toBe(0);
  });

  it('go in several statements if they are long, whether in text, in bytes or in structures', async () => {
    const long = 'x'.repeat(30_000);
    const key = { tenantId: TENANCY, role: 'es256', algorithm: 'ES256', state: 'retired', validFrom: new Date(5) };
    const keys = Array.from({ length: 60 }, (_, number) => ({
      ...key,
      keyId: `long ${number}`,
      publicJwk: {},
      validUntil: new Date(9),
      certificate: Buffer.from(long),
    }));
    const tenancies = Array.from({ length: 60 }, (_, number) => ({
      tenantId: uuid(7_000 + number),
      kind: 'organisation',
      name: long,
      wallet: `0x${number}`,
      at: new Date(0),
    }));
    const described = Array.from({ length: 60 }, (_, number) => place(3_000 + number, { attributes: { long } }));
    const statements = await within(async (tx) => {
      let sent = 0;
      const counted: Tx = { ...tx, execute: (...statement) => tx.execute(...statement).finally(() => (sent += 1)) };
      const counts: number[] = [];
      for (const insert of [
        () => insertRows(counted, KEY, keys),
        () => insertRows(counted, TENANCIES, tenancies),
        () => insertRows(counted, PLACE, described),
      ]) {
        sent = 0;
        expect(await insert()).toBe(60);
        counts.push(sent);
      }
      return counts;
    });
    for (const count of statements) expect(count).toBeGreaterThan(2);
  });

  it('that meet a conflict are left out of the number and of what is returned', async () => {
    const rows = [place(5_000), place(5_001)];
    expect(await within((tx) => insertRows(tx, PLACE, [rows[0]!]))).toBe(1);
    expect(await within((tx) => insertRows(tx, PLACE, rows.slice(0, 1), 'ON CONFLICT DO NOTHING'))).toBe(0);
    expect(await within((tx) => insertReturning(tx, PLACE, rows, 'ON CONFLICT DO NOTHING', 'locationId'))).toEqual([
      rows[1]!.locationId,
    ]);
  });
});

it('do not compile with a column that the schema does not have, or that has another type', () => {
  // @ts-expect-error no such column
  table('location').columns<{ name: string }>({ name: 'name' });
  // @ts-expect-error a column of numbers
  table('location').columns<{ name: string }>({ name: 'latitude' });
  // @ts-expect-error a member without a column
  table('location').columns<{ name: string; more: string }>({ name: 'display_name' });
  // @ts-expect-error no such table
  expect(table('locations')).toBeDefined();
});
