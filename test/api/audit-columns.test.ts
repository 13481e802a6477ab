import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { rotateDeploymentKey } from '../../src/archivist/operator/manage-keys.js';
import { auditDeployment } from '../../src/cli/audit-deployment.js';
import { AUDITED_TABLES } from '../../src/cli/audited-columns.js';
import { runCli } from '../../src/cli/run-cli.js';
import { parseConfig } from '../../src/platform/config.js';
import { fileObjectStore } from '../../src/platform/file-object-store.js';
import { nodeVerify } from '../../src/platform/keys/node-verify.js';
import type { Database } from '../../src/platform/postgres/database.js';
import { openDatabase } from '../../src/platform/postgres/open-database.js';
import { sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { sendCose } from './send-cose.js';
import { type Client, startTestService, type TestService, template } from './test-service.js';
import { startTestWitness, type TestWitness } from './test-witness.js';

const PATIENCE = { timeout: 90_000, interval: 300 };
/** Of these the audit says nothing, whole tables: each with where it is said why. */
const OTHER_TABLES = [
  'access_policy',
  'access_policy_audit',
  'access_policy_principal',
  'application',
  'application_credential',
  'asset',
  'asset_free_event_trail',
  'blob',
  'blob_upload',
  'compliance_policy',
  'deployment',
  'idempotency',
  'identity_provider',
  'invite',
  'location',
  'member',
  'member_session',
  'registration_settings',
  'schema_migration',
  'subject',
  'subject_wallet',
  'tenancy',
  'tenancy_usage',
  'tls_ca_certificate',
  'token_epoch',
  'trust_anchor',
];

interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly generated: string;
  /** Part of the primary key, or of another unique one. */
  readonly key: boolean;
  readonly unique: boolean;
}

let folder: string;
let witnesses: TestWitness[];
let running: TestService;
let database: Database;
let environment: Record<string, string>;
let columns: Column[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'columns-'));
  witnesses = await Promise.all(['w1', 'w2'].map((name) => startTestWitness(`${name}.example`)));
  const conserver = sampleIssuer();
  const issuers = join(folder, 'issuers.json');
  const pem = conserver.publicKey.export({ type: 'spki', format: 'pem' });
  await writeFile(issuers, JSON.stringify({ issuers: [{ issuer: 'conserver', kid: 'testkey', public_key: pem }] }));
  environment = {
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: '',
    REDIS_URL: '',
    MASSIF_HEIGHT: '3',
    ANCHOR_SCHEDULE: '* * * * * *',
    PAYLOAD_HASH_ISSUERS: issuers,
    WITNESSES: witnesses.map(({ address }) => address).join(', '),
    WITNESS_SECONDS: '1',
  };
  running = await startTestService(environment);
  const tlog = (await running.anonymous.get('/verifiabledata/tlog')).json as { logs: { kind: string; vkey: string }[] };
  const vkeyOf = (wanted: string) => tlog.logs.find(({ kind }) => kind === wanted)!.vkey;
  for (const each of witnesses) each.knownLogs.push(vkeyOf('public'), vkeyOf('keys'));
  const identities = await fill(conserver);
  await vi.waitFor(async () => {
    for (const [identity, status] of identities)
      expect([identity, (await running.owner.get(`/archivist/v2/${identity}`)).json['confirmation_status']]).toEqual([
        identity,
        status,
      ]);
    const anchored = await running.owner.get(`/archivist/v1alpha2/blockchain/${identities.at(-1)![0]}`);
    expect(anchored.json['transactions']).toHaveLength(1);
  }, PATIENCE);
  await settled();
  await running.service.close();
  database = await openDatabase(parseConfig(environment), pino({ level: 'silent' }));
  columns = await allColumns();
}, 240_000);
afterAll(async () => {
  await database?.close();
  await running?.close();
  await Promise.all((witnesses ?? []).map((each) => each.close()));
  await rm(folder, { recursive: true, force: true });
});

/** Something in every table that is audited; resolves with events and the states that they come to. */
async function fill(conserver: ReturnType<typeof sampleIssuer>): Promise<[string, string][]> {
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
  const own = await madeBy(owner, {}, template('vcon://0190a8c0-0000-7000-8000-0000000000c1'));
  await madeBy(owner, {}, { note: 'another' });
  await madeBy(owner, { public: true }, template('vcon://0190a8c0-0000-7000-8000-0000000000c2'));
  await owner.post('/archivist/v1/events', { attributes: { note: 'free' }, trails: ['a'], event_type: 'made' });
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
  return [
    [own, 'UNEQUIVOCAL'],
    [anchored, 'CONFIRMED'],
  ];
}

/** Until all is logged, sealed, anchored, and nothing more is written. */
async function settled(): Promise<void> {
  const { database: live } = running.service.parts;
  const counts = () =>
    live.inTransaction('system', (tx) =>
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

function asOwner<Row extends object>(sql: string): Promise<Row[]> {
  return database.inTransaction('system', async (tx) => {
    await tx.execute('RESET ROLE');
    const rows = await tx.query<Row>(sql);
    await tx.execute('SET ROLE vcon_archivist_service');
    return rows;
  });
}

function allColumns(): Promise<Column[]> {
  return asOwner<Column>(
    `SELECT c.table_name AS table, c.column_name AS column, c.data_type AS type, c.is_generated AS generated,
        coalesce(bool_or(x.indisprimary AND a.attnum = ANY (x.indkey)), false) AS key,
        coalesce(bool_or(x.indisunique AND a.attnum = ANY (x.indkey)), false) AS unique
       FROM information_schema.columns c
       JOIN pg_attribute a ON a.attrelid = format('archivist.%I', c.table_name)::regclass AND a.attname = c.column_name
       LEFT JOIN pg_index x ON x.indrelid = a.attrelid
      WHERE c.table_schema = 'archivist'
      GROUP BY c.table_name, c.column_name, c.data_type, c.is_generated ORDER BY 1, 2`,
  );
}

async function audit(): Promise<string[]> {
  const { keyring, deployment } = running.service.parts;
  const faults: string[] = [];
  await auditDeployment({
    database,
    keyring,
    deployment,
    objectStore: fileObjectStore(parseConfig(environment).objectStoreDir),
    verifySignature: nodeVerify,
    witnesses: witnesses.map(({ key }) => key),
    quorum: witnesses.length,
    fault: (log, what) => void faults.push(`${log}: ${what}`),
    progress: () => undefined,
  });
  return faults;
}

const SWAPPED: Readonly<Record<string, readonly [string, string]>> = {
  'signing_key.state': ['retired', 'revoked'],
  'log.structure': ['MMR_SHA256', 'RFC9162_SHA256'],
  'chain_transaction.kind': ['SIMPLE_HASH', 'MERKLE_LOG'],
};
/** Which row shows the column at its best; any other one where it is not said. */
const SHOWN: Readonly<Record<string, string>> = {
  'leaf.idtimestamp': 'trie_key IS NOT NULL',
  'log.massif_height': `structure = 'MMR_SHA256' AND leaves >= 4`,
  'log.witnessed_leaves': 'witnessed_leaves > 0',
  'seal.sealed_at_ms': 'log_id = tenant_id',
  'signing_key.state': `state = 'retired'`,
  'signing_key.valid_from': `role = 'seal'`,
  'signing_key.key_id': `role = 'seal'`,
};
const DEFAULTS: Readonly<Record<string, string>> = { log: 'leaves > 0', anchor_window: 'anchors > 0' };

/** Another value of the same type that nothing else has. */
function changed({ table, column, type, unique }: Column, value: string): string {
  const swapped = SWAPPED[`${table}.${column}`];
  if (swapped) return `CASE ${value} WHEN '${swapped[0]}' THEN '${swapped[1]}' ELSE '${swapped[0]}' END`;
  switch (type) {
    case 'bytea':
      return `set_byte(${value}, length(${value}) - 1, get_byte(${value}, length(${value}) - 1) # 1)`;
    case 'uuid':
      return `encode(set_byte(uuid_send(${value}), 15, get_byte(uuid_send(${value}), 15) # 85), 'hex')::uuid`;
    case 'bigint':
      return `${value} # ${unique ? 2 ** 40 : 1}::bigint`;
    case 'integer':
    case 'smallint':
      return `${value} # 1::${type}`;
    case 'boolean':
      return `NOT ${value}`;
    case 'timestamp with time zone':
      return `${value} + interval '1 millisecond'`;
    case 'jsonb':
      return column.startsWith('principal')
        ? `jsonb_set(${value}, '{subject}', to_jsonb((${value} ->> 'subject') || '~'))`
        : `CASE jsonb_typeof(${value}) WHEN 'array' THEN ${value} || '["~"]' ELSE ${value} || '{"~": "~"}' END`;
    default:
      return `${value} || '~'`;
  }
}

const covered = Object.entries(AUDITED_TABLES).flatMap(([table, each]) =>
  each.covered.map((column): [string, string] => [table, column]),
);

describe('the audit of a database', () => {
  it('knows every column of every table, as covered or as open', () => {
    const known = Object.entries(AUDITED_TABLES).flatMap(([table, { covered: own, open }]) =>
      [...own, ...Object.keys(open)].map((column) => `${table}.${column}`),
    );
    const there = columns
      .filter(({ table }) => !OTHER_TABLES.includes(table))
      .map((each) => `${each.table}.${each.column}`);
    expect([...known].sort()).toEqual([...there].sort());
    expect(OTHER_TABLES.filter((table) => !columns.some((each) => each.table === table))).toEqual([]);
  });

  it('finds nothing in a sound one', async () => {
    expect(await audit()).toEqual([]);
  });

  it.each(covered)('finds one change of %s.%s', async (table, name) => {
    const own = columns.filter((each) => each.table === table);
    const column = own.find((each) => each.column === name)!;
    const where = `${SHOWN[`${table}.${name}`] ?? DEFAULTS[table] ?? 'true'} AND ${name} IS NOT NULL`;
    const keys = own.filter(({ key }) => key).map((each) => each.column);
    await asOwner('DROP TABLE IF EXISTS public.kept');
    await asOwner(
      `CREATE TABLE public.kept AS SELECT * FROM archivist.${table} WHERE ${where} ORDER BY ${keys} LIMIT 1`,
    );
    const same = (changedKey: boolean) =>
      keys
        .map((key) => `x.${key} = ${changedKey && key === name ? changed(column, `k.${key}`) : `k.${key}`}`)
        .join(' AND ');
    const set = (value: string, changedKey: boolean) =>
      asOwner<{ done: boolean }>(
        `UPDATE archivist.${table} x SET ${name} = ${value} FROM public.kept k WHERE ${same(changedKey)} RETURNING true AS done`,
      );
    expect(await set(changed(column, `k.${name}`), false)).toHaveLength(1);
    const faults = await audit().finally(() => set(`k.${name}`, true));
    expect(faults).not.toEqual([]);
  });

  it('finds nothing again once all is undone', async () => {
    expect(await audit()).toEqual([]);
  });

  it('says on the command line what it covers', async () => {
    await database.close();
    const out: string[] = [];
    const terminal = { print: (line: string) => void out.push(line), complain: () => undefined, exitCode: 0 };
    vi.stubEnv('DATA_DIR', environment['DATA_DIR']!);
    for (const name of ['DATABASE_URL', 'REDIS_URL']) vi.stubEnv(name, undefined);
    for (const name of ['WITNESSES', 'MASSIF_HEIGHT']) vi.stubEnv(name, environment[name]!);
    await runCli(['audit'], terminal);
    vi.unstubAllEnvs();
    expect([terminal.exitCode, out.join('\n')]).toEqual([0, expect.stringMatching(/^SOUND\./)]);
    expect(out.join('\n')).toContain('  registration: tenant_id, statement_hash, event_id');
    expect(out.join('\n')).toContain('asset_free_event.creator_issuer');
  });
});
