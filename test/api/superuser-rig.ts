import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { rotateDeploymentKey } from '../../src/archivist/operator/manage-keys.js';
import type { Database } from '../../src/platform/postgres/database.js';
import { sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { sendCose } from './send-cose.js';
import { type Client, startTestService, type TestService, template } from './test-service.js';
import { startTestWitness, type TestWitness } from './test-witness.js';

const PATIENCE = { timeout: 90_000, interval: 300 };

/** A column as the catalogue describes it. */
export interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly generated: 'ALWAYS' | 'NEVER';
  /** Part of the primary key, or of another unique one. */
  readonly key: boolean;
  readonly unique: boolean;
  /** The texts that the table's constraint allows; null for any. */
  readonly allowed: readonly string[] | null;
}

/** A deployment with something in every table that evidence is made of, and the events that it recorded. */
export interface FilledDeployment {
  readonly running: TestService;
  readonly folder: string;
  readonly witnesses: readonly TestWitness[];
  /** Identities of events of every kind. */
  readonly events: Readonly<Record<'asset' | 'plain' | 'public' | 'free' | 'freeTemplate', string>>;
  close(): Promise<void>;
}

/** Starts a service on a server where there is one, fills it and waits until all is logged, sealed, witnessed and anchored. */
export async function startFilledDeployment(): Promise<FilledDeployment> {
  const folder = await mkdtemp(join(tmpdir(), 'superuser-'));
  const witnesses = await Promise.all(['w1', 'w2'].map((name) => startTestWitness(`${name}.example`)));
  const conserver = sampleIssuer();
  const issuers = join(folder, 'issuers.json');
  const pem = conserver.publicKey.export({ type: 'spki', format: 'pem' });
  await writeFile(issuers, JSON.stringify({ issuers: [{ issuer: 'conserver', kid: 'testkey', public_key: pem }] }));
  const running = await startTestService({
    REDIS_URL: '',
    MASSIF_HEIGHT: '3',
    ANCHOR_SCHEDULE: '* * * * * *',
    PAYLOAD_HASH_ISSUERS: issuers,
    WITNESSES: witnesses.map(({ address }) => address).join(', '),
    WITNESS_SECONDS: '1',
  });
  const close = async () => {
    await running.close();
    await Promise.all(witnesses.map((each) => each.close()));
    await rm(folder, { recursive: true, force: true });
  };
  const tlog = (await running.anonymous.get('/verifiabledata/tlog')).json as { logs: { kind: string; vkey: string }[] };
  for (const each of witnesses)
    each.knownLogs.push(...['public', 'keys'].map((wanted) => tlog.logs.find(({ kind }) => kind === wanted)!.vkey));
  const events = await fill(running, conserver);
  await settled(running);
  return { running, folder, witnesses, events, close };
}

async function fill(running: TestService, conserver: ReturnType<typeof sampleIssuer>) {
  const { owner } = running;
  const madeBy = async (client: Client, body: Record<string, unknown>, attributes: Record<string, unknown>) => {
    const asset = await client.post('/archivist/v2/assets', { attributes: { colour: 'red' }, ...body });
    const event = await client.post(`/archivist/v2/${asset.json['identity']}/events`, {
      operation: 'Record',
      behaviour: 'RecordEvidence',
      event_attributes: attributes,
      asset_attributes: { colour: 'blue' },
    });
    return String(event.json['identity']);
  };
  const free = async (attributes: Record<string, unknown>) => {
    const made = await owner.post('/archivist/v1/events', { attributes, trails: ['a'], event_type: 'made' });
    return String(made.json['identity']);
  };
  const asset = await madeBy(owner, {}, template('vcon://0190a8c0-0000-7000-8000-0000000000c1'));
  const plain = await madeBy(owner, {}, { note: 'another' });
  const shown = await madeBy(owner, { public: true }, template('vcon://0190a8c0-0000-7000-8000-0000000000c2'));
  const bare = await free({ note: 'free' });
  const freeTemplate = await free(template('vcon://0190a8c0-0000-7000-8000-0000000000c3'));
  const other = await running.client({ otherTenancy: true, roles: ['OWNER'] });
  for (const [client, path] of [
    [owner, '/archivist/v1/publicscitt/entries'],
    [other, '/archivist/v1/scitt/entries'],
  ] as const)
    expect((await sendCose(running.url, client, path, sampleStatement(sampleIssuer()))).status).toBe(200);
  const linked = sampleStatement(conserver, { issuer: 'conserver', confirmation: false });
  expect((await sendCose(running.url, running.anonymous, '/payload-hash/entries', linked)).status).toBe(201);
  await rotateDeploymentKey(running.service.parts.keys, 'seal');
  const anchored = await madeBy(owner, { proof_mechanism: 'SIMPLE_HASH' }, { note: 'anchored' });
  await vi.waitFor(async () => {
    for (const [identity, status] of [
      [asset, 'UNEQUIVOCAL'],
      [anchored, 'CONFIRMED'],
    ] as const)
      expect([identity, (await owner.get(`/archivist/v2/${identity}`)).json['confirmation_status']]).toEqual([
        identity,
        status,
      ]);
    const chain = await owner.get(`/archivist/v1alpha2/blockchain/${anchored}`);
    expect(chain.json['transactions']).toHaveLength(1);
  }, PATIENCE);
  return { asset, plain, public: shown, free: bare, freeTemplate };
}

/** Until all is logged, sealed, anchored, and nothing more is written. */
async function settled(running: TestService): Promise<void> {
  const { database } = running.service.parts;
  const counts = () =>
    database.inTransaction('system', (tx) =>
      tx.query(`SELECT (SELECT count(*) FROM archivist.leaf) AS leaves, (SELECT count(*) FROM archivist.seal) AS seals,
        (SELECT count(*) FROM archivist.chain_transaction) AS transactions, (SELECT count(*) FROM archivist.intake) AS waiting,
        (SELECT count(*) FROM archivist.cosigned_checkpoint) AS cosigned`),
    );
  await vi.waitFor(async () => {
    const before = await counts();
    await new Promise((later) => setTimeout(later, 3_500));
    expect(await counts()).toEqual(before);
  }, PATIENCE);
}

/** Runs SQL as the superuser, whom neither row-level security nor foreign keys hold back. */
export function asSuperuser<Row extends object>(database: Database, sql: string): Promise<Row[]> {
  return database.inTransaction('system', async (tx) => {
    await tx.execute('RESET ROLE');
    await tx.execute(`SET LOCAL session_replication_role = replica`);
    const rows = await tx.query<Row>(sql);
    await tx.execute('SET ROLE vcon_archivist_service');
    return rows;
  });
}

/** Every column of every table of the service. */
export function allColumns(database: Database): Promise<Column[]> {
  return asSuperuser<Column>(
    database,
    `SELECT c.table_name AS table, c.column_name AS column, c.data_type AS type, c.is_generated AS generated,
        coalesce(bool_or(x.indisprimary AND a.attnum = ANY (x.indkey)), false) AS key,
        coalesce(bool_or(x.indisunique AND a.attnum = ANY (x.indkey)), false) AS unique,
        (SELECT array_agg(m[1]) FROM pg_constraint k, regexp_matches(pg_get_constraintdef(k.oid), '''([^'']+)''::text', 'g') m
          WHERE k.conrelid = a.attrelid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]) AS allowed
       FROM information_schema.columns c
       JOIN pg_attribute a ON a.attrelid = format('archivist.%I', c.table_name)::regclass AND a.attname = c.column_name
       LEFT JOIN pg_index x ON x.indrelid = a.attrelid
      WHERE c.table_schema = 'archivist'
      GROUP BY c.table_name, c.column_name, c.data_type, c.is_generated, a.attrelid, a.attnum ORDER BY 1, 2`,
  );
}

/** SQL of another value of the same type, which no other row has. */
export function anotherValue({ column, type, unique, allowed }: Column, value: string): string {
  if (allowed) {
    const next = allowed.map((text, place) => `WHEN '${text}' THEN '${allowed[(place + 1) % allowed.length]}'`);
    return `CASE ${value} ${next.join(' ')} END`;
  }
  switch (type) {
    case 'bytea':
      return `set_byte(${value}, length(${value}) - 1, get_byte(${value}, length(${value}) - 1) # 1)`;
    case 'uuid':
      return `encode(set_byte(uuid_send(${value}), 15, get_byte(uuid_send(${value}), 15) # 85), 'hex')::uuid`;
    case 'bigint':
      return `${value} # ${unique ? 2 ** 40 : 1}::bigint`;
    case 'integer':
    case 'smallint':
      return `${value} # ${unique ? 1024 : 1}::${type}`;
    case 'double precision':
      return `${value} + 1`;
    case 'boolean':
      return `NOT ${value}`;
    case 'ARRAY':
      return `array_append(${value}, '~')`;
    case 'timestamp with time zone':
    case 'timestamp without time zone':
      return `${value} + interval '1 millisecond'`;
    case 'jsonb':
      return column.startsWith('principal')
        ? `jsonb_set(${value}, '{subject}', to_jsonb((${value} ->> 'subject') || '~'))`
        : `CASE jsonb_typeof(${value}) WHEN 'array' THEN ${value} || '["~"]' ELSE ${value} || '{"~": "~"}' END`;
    default:
      return `${value} || '~'`;
  }
}

/** SQL of some value for a row of a table that is empty. */
export function someValue({ column, type, allowed }: Column, tenantId: string): string {
  if (column === 'tenant_id') return `'${tenantId}'::uuid`;
  if (allowed) return `'${allowed[0]}'`;
  switch (type) {
    case 'bytea':
      return `'\\x0102030405060708'::bytea`;
    case 'uuid':
      return `'0192e8f5-0000-7000-8000-0000000000aa'::uuid`;
    case 'bigint':
    case 'integer':
    case 'smallint':
    case 'double precision':
      return '7';
    case 'boolean':
      return 'true';
    case 'ARRAY':
      return `'{}'`;
    case 'timestamp with time zone':
    case 'timestamp without time zone':
      return `'2026-01-01T00:00:00Z'`;
    case 'jsonb':
      return `'{}'`;
    default:
      return `'some'`;
  }
}
