import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { names, selected, table } from '../../../src/platform/postgres/columns.js';
import type { Tx } from '../../../src/platform/postgres/database.js';
import { insertRows } from '../../../src/platform/postgres/insert-rows.js';
import {
  changeRow,
  deleteRow,
  deleteRows,
  findRow,
  replacing,
  updateRows,
} from '../../../src/platform/postgres/rows-by-key.js';
import { engines, type TestDatabase } from '../../support/engines.js';

const TENANCY = '0190a8c0-0000-7000-8000-00000000000b';
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
const KEY = ['tenantId', 'locationId'] as const;

const TENANCIES = table('tenancy').columns<{
  tenantId: string;
  kind: string;
  name: string;
  wallet: string;
  at: Date;
  disabledAt: Date | null;
}>({
  tenantId: 'tenant_id',
  kind: 'kind',
  name: 'display_name',
  wallet: 'wallet_address',
  at: 'created_at',
  disabledAt: 'disabled_at',
});

const place = (number: number): Place => ({
  tenantId: TENANCY,
  locationId: uuid(number),
  displayName: `place ${number}`,
  description: 'as it was',
  latitude: 1.5,
  longitude: -0.1,
  attributes: { before: true },
  subjects: ['subjects/a'],
  createdAt: new Date('2026-01-02T03:04:05.678Z'),
});

const ODD = ['', 'NULL', '"', '\\', "'; --", '{a,b}', 'é 🗝'];

describe.each(engines())('rows by their key in %s', (engine) => {
  let opened: TestDatabase;
  const within = <T>(work: (tx: Tx) => Promise<T>) => opened.database.inTransaction('system', work);
  const [first, second] = [place(1), place(2)];
  const all = () =>
    within((tx) => tx.query<Place>(`SELECT ${selected(PLACE, 'l')} FROM archivist.location l ORDER BY l.location_id`));
  beforeAll(async () => {
    opened = await engine.open();
    const owner = { tenantId: TENANCY, kind: 'organisation', name: 'n', wallet: '0x', at: new Date(0) };
    await within((tx) => insertRows(tx, TENANCIES, [{ ...owner, disabledAt: null }]));
    await within((tx) => insertRows(tx, PLACE, [first, second]));
  });
  afterAll(() => opened.close());

  it('are found by all members of the key, and by no other row’s', async () => {
    expect(await within((tx) => findRow(tx, PLACE, KEY, first))).toEqual(first);
    expect(await within((tx) => findRow(tx, PLACE, KEY, { ...first, tenantId: uuid(9) }))).toBeUndefined();
    expect(await within((tx) => findRow(tx, PLACE, KEY, second, 'FOR UPDATE'))).toEqual(second);
  });

  it('get the named members and keep the others; other rows stay as they are', async () => {
    const changed = { ...first, displayName: ODD.join(), attributes: { [ODD.join()]: ODD }, subjects: ODD };
    const other = { ...changed, description: 'not named' };
    expect(await within((tx) => updateRows(tx, PLACE, KEY, ['displayName', 'attributes', 'subjects'], other))).toBe(1);
    expect(await all()).toEqual([changed, second]);
    expect(await within((tx) => updateRows(tx, PLACE, KEY, ['displayName'], { ...first, tenantId: uuid(9) }))).toBe(0);
    expect(await within((tx) => updateRows(tx, PLACE, KEY, ['displayName', 'attributes', 'subjects'], first))).toBe(1);
    expect(await all()).toEqual([first, second]);
  });

  it('may get NULL where the schema has it', async () => {
    const [disabled, enabled] = [
      { tenantId: TENANCY, disabledAt: new Date(7) },
      { tenantId: TENANCY, disabledAt: null },
    ];
    for (const row of [disabled, enabled]) {
      expect(await within((tx) => updateRows(tx, TENANCIES, ['tenantId'], ['disabledAt'], row))).toBe(1);
      expect(await within((tx) => findRow(tx, TENANCIES, ['tenantId'], row))).toMatchObject(row);
    }
  });

  it('are changed only while other members have the values that the caller knows', async () => {
    const move = (from: number, latitude: number) =>
      within((tx) => updateRows(tx, PLACE, KEY, ['latitude'], { ...first, latitude }, { latitude: from }));
    expect(await move(2.5, 3.5)).toBe(0);
    expect(await move(1.5, 3.5)).toBe(1);
    expect(await move(1.5, 4.5)).toBe(0);
    expect(await move(3.5, 1.5)).toBe(1);
  });

  it('keep what a change leaves undefined, and are returned as they are afterwards', async () => {
    const members = ['displayName', 'description', 'attributes', 'subjects'] as const;
    const { tenantId, locationId } = first;
    const change = { tenantId, locationId, description: 'new', attributes: undefined, subjects: ['subjects/b'] };
    const after = { ...first, description: 'new', subjects: ['subjects/b'] };
    expect(await within((tx) => changeRow(tx, PLACE, KEY, members, change))).toEqual(after);
    expect(await within((tx) => changeRow(tx, PLACE, KEY, members, { tenantId, locationId }))).toEqual(after);
    expect(
      await within((tx) => changeRow(tx, PLACE, KEY, members, { ...change, locationId: uuid(9) })),
    ).toBeUndefined();
    await within((tx) => updateRows(tx, PLACE, KEY, ['description', 'subjects'], first));
  });

  it('are replaced by an insert with the same key, as far as members are named', async () => {
    const again = { ...second, displayName: 'again', description: 'not named' };
    await within((tx) => insertRows(tx, PLACE, [again], replacing(PLACE, KEY, ['displayName'])));
    expect(await all()).toEqual([first, { ...second, displayName: 'again' }]);
  });

  it('are deleted alone, and returned as they were', async () => {
    expect(await within((tx) => deleteRow(tx, PLACE, KEY, first))).toEqual(first);
    expect(await within((tx) => deleteRow(tx, PLACE, KEY, first))).toBeUndefined();
    expect(await within((tx) => deleteRows(tx, PLACE, KEY, { ...second, tenantId: uuid(9) }))).toBe(0);
    expect(await within((tx) => deleteRows(tx, PLACE, KEY, second))).toBe(1);
    expect(await all()).toEqual([]);
  });
});

it('do not compile with a member or column that there is not, or a value of another type', () => {
  const never = (..._: unknown[]) => expect(true).toBe(true);
  const tx = {} as Tx;
  // @ts-expect-error no such member in the key
  never(() => findRow(tx, PLACE, ['name'], place(1)));
  // @ts-expect-error a member of the key without a value
  never(() => deleteRows(tx, PLACE, KEY, { tenantId: TENANCY }));
  // @ts-expect-error no such member to change
  never(() => updateRows(tx, PLACE, KEY, ['name'], place(1)));
  // @ts-expect-error a number
  never(() => updateRows(tx, PLACE, KEY, ['latitude'], { ...place(1), latitude: '1' }));
  // @ts-expect-error no such member to replace
  never(() => replacing(PLACE, KEY, ['name']));
  // @ts-expect-error no such column
  never(names('location').name);
});
