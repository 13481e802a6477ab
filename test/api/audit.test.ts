import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { auditAssets } from '../../src/archivist/audit/audit-assets.js';
import { auditBlobs } from '../../src/archivist/audit/audit-blobs.js';
import { blobsOfAssetFreeEvents } from '../../src/archivist/audit/blob-audit-store.js';
import { toHex } from '../../src/core/bytes.js';
import { sha256 } from '../../src/core/sha256.js';
import { UNFINISHED } from '../../src/platform/durable-file.js';
import { fileObjectStore } from '../../src/platform/file-object-store.js';
import { ObjectStoreFailed } from '../../src/platform/object-store-failed.js';
import { commandLine } from '../support/command-line.js';
import { engines } from '../support/engines.js';
import { faultsOfAudit } from './faults-of-audit.js';
import { startTestService, type TestService } from './test-service.js';
import { uploadFile } from './upload-file.js';

const objects = mkdtempSync(join(tmpdir(), 'audit-'));
const EVENTS = 11;
const PATIENCE = { timeout: 60_000, interval: 250 };
/** Of the events: those of a public asset, of another one, and one of no asset. */
const identities: string[] = [];
let running: TestService;

const audit = () => faultsOfAudit(running);

/** Resolves when nothing waits for a log, a seal or a block: the service would make it of what a test has changed. */
async function settled(): Promise<void> {
  const waiting = () =>
    running.service.parts.database.inTransaction('system', (tx) =>
      tx.query(
        `SELECT g.name FROM archivist.log g
          WHERE g.published_size < g.size OR EXISTS (SELECT FROM archivist.intake i WHERE i.log_id = g.log_id)
             OR g.log_id = g.tenant_id AND g.published_number > (
               SELECT count(*) FROM archivist.chain_transaction t
                WHERE t.tenant_id = g.tenant_id AND t.kind = 'MERKLE_LOG')`,
      ),
    );
  await vi.waitFor(async () => expect(await waiting()).toEqual([]), PATIENCE);
}

beforeAll(async () => {
  running = await startTestService({ OBJECT_STORE_URL: pathToFileURL(objects).href, MASSIF_HEIGHT: '3' });
  for (const isPublic of [true, false]) {
    const asset = await running.owner.post('/archivist/v2/assets', { public: isPublic, attributes: { colour: 'red' } });
    for (let number = 0; number < EVENTS; number += 1) {
      const made = await running.owner.post(`/archivist/v2/${asset.json['identity']}/events`, {
        operation: 'Record',
        behaviour: 'RecordEvidence',
        event_attributes: {
          note: `number ${number}`,
          payload: toHex(sha256(Uint8Array.of(number))),
          payload_hash_alg: 'SHA-256',
          subject: 'vcon://0192e8f5-0000-7000-8000-000000000001',
        },
        asset_attributes: { colour: `blue ${number}` },
      });
      identities.push(`v2/${made.json['identity']}`);
    }
  }
  await running.owner.post('/archivist/v1/events', { attributes: { note: 'the first' } });
  const free = await running.owner.post('/archivist/v1/events', {
    attributes: { note: 'free' },
    trails: ['vcon://x'],
    event_type: 'created',
  });
  identities.push(`v1/${free.json['identity']}`);
  await settled();
}, 120_000);
afterAll(async () => {
  await running?.close();
  rmSync(objects, { recursive: true });
});

/** Columns that a change leaves alone: the same row is found again to undo it. */
const KEYS: Readonly<Record<string, string>> = {
  node_page: 'tenant_id, log_id, page',
  leaf: 'tenant_id, log_id, leaf_index',
  statement: 'tenant_id, event_id',
  seal: 'tenant_id, log_id, seal_number',
  peak_receipt: 'tenant_id, log_id, node_index',
  log: 'tenant_id, log_id',
  asset_free_event: 'tenant_id, event_id',
  blob: 'tenant_id, blob_id',
};
const first = (table: string, where: string) =>
  `ctid = (SELECT ctid FROM archivist.${table} WHERE ${where} ORDER BY ${KEYS[table]} LIMIT 1)`;
const bit = (table: string, column: string, offset: number, where = 'true') =>
  `UPDATE archivist.${table} SET ${column} = set_byte(${column}, ${offset}, get_byte(${column}, ${offset}) # 1)
    WHERE ${first(table, `${where} AND length(${column}) > ${offset}`)}`;
const text = (table: string, column: string, where = 'true') =>
  `UPDATE archivist.${table} SET ${column} = reverse(${column}) WHERE ${first(table, where)}`;
/** Found again by an id that the change leaves alone. */
const one = (order: string) =>
  `event_id = (SELECT ${order}(event_id::text)::uuid FROM archivist.asset_event WHERE behaviour = 'RecordEvidence')`;
const json = (column: string, member: string) =>
  `UPDATE archivist.asset_event SET ${column} = jsonb_set(${column}, '{${member}}', to_jsonb(reverse(${column} ->> '${member}')))
    WHERE ${one('max')}`;

const TRIGGER = readFileSync(new URL('../../src/migrations/000057_policy_weights.sql', import.meta.url), 'utf8')
  .match(/CREATE TRIGGER[^;]*/)![0]
  .replace('CREATE', 'CREATE OR REPLACE');

describe('the audit of a database', () => {
  it('finds nothing in a sound one', async () => {
    expect(await audit()).toEqual([]);
  });

  it.each([
    ['a node', bit('node_page', 'nodes', 70)],
    ['the last byte of a page of nodes', bit('node_page', 'nodes', 31 * 32 - 1)],
    ['a trie key', bit('leaf', 'trie_key', 31)],
    ['the extra bytes of an asset-free event', bit('leaf', 'extra_bytes', 20)],
    ['an idtimestamp', bit('leaf', 'idtimestamp', 7, 'trie_key IS NOT NULL')],
    ['a time of commit', text('leaf', 'timestamp_committed', `leaf_index = 2`)],
    ['a statement', bit('statement', 'entry', 100)],
    ['the signature of a statement', bit('statement', 'entry', 150)],
    ['a seal’s root', bit('seal', 'root', 0)],
    ['a seal', bit('seal', 'signed', 30)],
    [
      'the time of a seal',
      'UPDATE archivist.seal SET sealed_at_ms = sealed_at_ms # 1 WHERE key_id IN (SELECT key_id FROM archivist.peak_receipt)',
    ],
    [
      'the key of a seal',
      `UPDATE archivist.seal SET key_id = reverse(key_id) WHERE key_id IN (SELECT key_id FROM archivist.peak_receipt UNION SELECT reverse(key_id) FROM archivist.peak_receipt)`,
    ],
    ['the signature over a peak', bit('peak_receipt', 'receipt', 40)],
    ['the size of a log', `UPDATE archivist.log SET leaves = leaves # 1 WHERE name LIKE 'tenant/%' AND leaves > 20`],
    ['a log’s last idtimestamp', bit('log', 'last_idtimestamp', 7, `leaves > 20 AND structure = 'MMR_SHA256'`)],
    [
      'what is published',
      `UPDATE archivist.log SET published_size = published_size # 1 WHERE leaves > 20 AND structure = 'MMR_SHA256'`,
    ],
    ['an operation', `UPDATE archivist.asset_event SET operation = reverse(operation) WHERE ${one('max')}`],
    [
      'a behaviour',
      `UPDATE archivist.asset_event SET behaviour = CASE behaviour WHEN 'RecordEvidence' THEN 'Forged' ELSE 'RecordEvidence' END WHERE event_id = (SELECT max(event_id::text)::uuid FROM archivist.asset_event WHERE event_attributes ->> 'note' = 'number 3')`,
    ],
    ['an event attribute', json('event_attributes', 'note')],
    ['the payload of an event', json('event_attributes', 'payload')],
    ['an asset attribute', json('asset_attributes', 'colour')],
    ['a declared principal', json('principal_declared', 'subject')],
    ['an accepted principal', json('principal_accepted', 'subject')],
    [
      'a declared time',
      `UPDATE archivist.asset_event SET timestamp_declared = CASE WHEN timestamp_declared LIKE '%Z' THEN regexp_replace(timestamp_declared, 'Z$', '+00:00') ELSE regexp_replace(timestamp_declared, '\\+00:00$', 'Z') END WHERE ${one('max')}`,
    ],
    ['the creator of an asset-free event', text('asset_free_event', 'created_by')],
    [
      'the type of an asset-free event',
      `UPDATE archivist.asset_free_event SET event_type = reverse(event_type) WHERE event_type <> ''`,
    ],
    [
      'the time of an asset-free event',
      `UPDATE archivist.asset_free_event SET created_at_ms = created_at_ms # 1 WHERE event_type <> ''`,
    ],
  ])('finds one change of %s, and nothing once it is undone', async (_, sql) => {
    await running.asOwner(sql);
    const faults = await audit().finally(() => running.asOwner(sql));
    expect(faults).not.toEqual([]);
    expect(await audit()).toEqual([]);
  });

  it('finds a bit turned in any file of the object store that counts', async () => {
    const files = () =>
      readdirSync(objects, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    // A seal that is being published has an unfinished file; none stays.
    const unfinished = () => files().filter(({ name }) => name.startsWith(UNFINISHED));
    await expect.poll(unfinished, { timeout: 30_000 }).toEqual([]);
    const full = files().filter(
      ({ name, parentPath }) => parentPath.includes('seals/') || name === '0000000000000000.log',
    );
    expect(full.length).toBeGreaterThan(4);
    for (const { name, parentPath } of full) {
      const path = join(parentPath, name);
      const bytes = readFileSync(path);
      bytes[bytes.length - 5]! ^= 4;
      writeFileSync(path, bytes);
      const faults = await audit();
      bytes[bytes.length - 5]! ^= 4;
      writeFileSync(path, bytes);
      expect(faults, path).not.toEqual([]);
    }
    expect(await audit()).toEqual([]);
  }, 180_000);

  it('finds that a block below the newest, a full massif or its seal is gone from the object store, or another seal is', async () => {
    const file = (ending: string) => {
      const found = readdirSync(objects, { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith(ending));
      return found === undefined ? undefined : join(objects, found);
    };
    const block = () => readdirSync(join(objects, 'blocks'), { recursive: true, encoding: 'utf8' }).sort();
    await expect.poll(() => block().some((path) => path.endsWith('/0000000000000001')), { timeout: 30_000 }).toBe(true);
    const gone = {
      [join(objects, 'blocks', block().find((path) => path.endsWith('/0000000000000000'))!)]:
        /block 0 is not in the object store/,
      [file('/massifs/0000000000000000.log')!]: /the file of massif 0 is not in the object store/,
      [file('/massifseals/0000000000000000.sth')!]: /the file of the seal of massif 0 is not in the object store/,
    };
    for (const [path, fault] of Object.entries(gone)) {
      renameSync(path, `${path}.aside`);
      const faults = await audit();
      renameSync(`${path}.aside`, path);
      expect(faults).toEqual([expect.stringMatching(fault)]);
    }
    const seal = file('/massifseals/0000000000000000.sth')!;
    // Its bytes may be those of the numbered seal, by a link.
    renameSync(seal, `${seal}.aside`);
    writeFileSync(seal, 'another seal');
    const faults = await audit();
    renameSync(`${seal}.aside`, seal);
    expect(faults).toEqual([expect.stringMatching(/the file of the seal of massif 0 differs from its last seal/)]);
  });

  it('finds that an attached blob is gone or another one, and that the file of a blob is gone', async () => {
    const { owner, url } = running;
    const blob = (await uploadFile(url, owner, Uint8Array.of(1, 2, 3))).json;
    const attached = {
      arc_attribute_type: 'arc_attachment',
      arc_blob_identity: blob['identity'],
      arc_blob_hash_alg: 'SHA256',
      arc_blob_hash_value: (blob['hash'] as { value: string }).value,
    };
    const attributes = { note: 'attaches', nested: { photo: attached } };
    expect((await owner.post('/archivist/v1/events', { attributes })).status).toBe(200);
    await settled();
    expect(await audit()).toEqual([]);
    const id = String(blob['identity']).slice('blobs/'.length);
    const row = `archivist.blob WHERE blob_id = '${id}'`;
    const fault = /attaches a blob that is missing or has a different hash/;
    await running.asOwner(bit('blob', 'sha256', 0, `blob_id = '${id}'`));
    expect(await audit()).toEqual([expect.stringMatching(fault)]);
    await running.asOwner(bit('blob', 'sha256', 0, `blob_id = '${id}'`));
    await running.asOwner(`CREATE TABLE public.aside AS SELECT * FROM ${row}`);
    await running.asOwner(`DELETE FROM ${row}`);
    expect(await audit()).toEqual([expect.stringMatching(fault)]);
    await running.asOwner('INSERT INTO archivist.blob SELECT * FROM public.aside');
    await running.asOwner('DROP TABLE public.aside');
    const identity = (value: string) =>
      `UPDATE archivist.asset_free_event SET attributes = jsonb_set(attributes, '{nested,photo,arc_blob_identity}', '${value}')
        WHERE attributes ->> 'note' = 'attaches'`;
    for (const noBlob of [[blob['identity']], `blobs/${'-'.repeat(36)}`]) {
      await running.asOwner(identity(JSON.stringify(noBlob)));
      expect(await audit()).not.toEqual(expect.arrayContaining([expect.stringMatching(/attaches|cannot be audited/)]));
    }
    await running.asOwner(identity(JSON.stringify(blob['identity'])));
    expect(await audit()).toEqual([]);
    const file = readdirSync(objects, { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith(id))!;
    renameSync(join(objects, file), join(objects, `${file}.aside`));
    expect(await audit()).toEqual([expect.stringMatching(/the file of blob \S+ is not in the object store/)]);
    renameSync(join(objects, `${file}.aside`), join(objects, file));
    expect(await audit()).toEqual([]);
  });

  it('reads large and deep attributes within the time of a statement, attachments inside attachments too', async () => {
    const id = '0192e8f5-0000-7000-8000-000000000001';
    const part = { arc_attribute_type: 'arc_attachment', arc_blob_identity: `blobs/${id}`, arc_blob_hash_value: '01' };
    const head = `${JSON.stringify(part).slice(0, -1)}, "inside": `;
    await running.asOwner(
      `INSERT INTO archivist.asset_free_event (tenant_id, event_id, attributes, trails, event_type, creator_issuer, created_by, created_at_ms)
       SELECT tenant_id, gen_random_uuid(),
              ('{"deep": ' || repeat('${head}', 60) || '"' || repeat('x', 900000) || '"' || repeat('}', 61))::jsonb, '[]', 'deep', '', '', 1
         FROM (SELECT DISTINCT tenant_id FROM archivist.blob LIMIT 1) t, generate_series(1, 200)`,
    );
    const before = {
      tenantId: '00000000-0000-0000-0000-000000000000',
      eventId: '00000000-0000-0000-0000-000000000000',
    };
    const reading = running.service.parts.database.inTransaction('system', async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = '10s'`);
      return blobsOfAssetFreeEvents(tx, before, 500);
    });
    const found = await reading.finally(() =>
      running.asOwner(`DELETE FROM archivist.asset_free_event WHERE event_type = 'deep'`),
    );
    expect(found.filter(({ lost }) => lost)).toHaveLength(200);
  }, 120_000);

  it.runIf(engines().at(-1)!.name === 'PostgreSQL')(
    'takes more time than a request may, where it reads all events of many assets and their attachments',
    async () => {
      const { database, deployment } = running.service.parts;
      /** On every connection: none is used again before all have it. */
      const limit = async (time: string): Promise<void> => {
        let without = database.connections;
        let limitLast = (): void => {};
        const limited = new Promise<void>((resolve) => {
          limitLast = resolve;
        });
        const limitOne = () =>
          database.inTransaction('system', async (tx) => {
            await tx.query(`SELECT set_config('statement_timeout', $1, false)`, [time]);
            without -= 1;
            if (without === 0) limitLast();
            await limited;
          });
        await Promise.all(Array.from({ length: without }, limitOne));
      };
      const faults: string[] = [];
      const fault = (_: string, what: string) => void faults.push(what);
      const audited = { database, deployment, objectStore: fileObjectStore(objects), fault };
      await limit('1s');
      const tables = 'archivist.asset, archivist.blob';
      const locked = running.asOwner(`DO $$ BEGIN LOCK TABLE ${tables}; PERFORM pg_sleep(3); END $$`);
      await wait(300);
      const read = Promise.all([auditAssets(audited), auditBlobs(audited)]);
      await read.finally(async () => {
        await locked;
        await limit('30s');
      });
      expect(faults).toEqual([]);
    },
  );

  it.each([
    [
      'a function has another body',
      `CREATE OR REPLACE FUNCTION archivist.system_scope() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS
        $$ SELECT coalesce(current_setting('archivist.scope', true), '') = 'system' AND true $$`,
      readFileSync(new URL('../../src/migrations/000001_tenancies.sql', import.meta.url), 'utf8')
        .match(/CREATE FUNCTION archivist\.system_scope.*?;/s)![0]
        .replace('CREATE', 'CREATE OR REPLACE'),
      /function system_scope\(\): it differs from what the migrations create/,
    ],
    [
      'a function runs with other settings',
      'ALTER FUNCTION archivist.searched_terms(uuid, text[], text[], text[]) RESET search_path',
      'ALTER FUNCTION archivist.searched_terms(uuid, text[], text[], text[]) SET search_path = pg_catalog, pg_temp',
      /function searched_terms\(.*\): it differs from what the migrations create/,
    ],
    [
      'a function was added',
      `CREATE FUNCTION archivist.more() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
      'DROP FUNCTION archivist.more()',
      /function more\(\): the migrations do not create it/,
    ],
    [
      'rows are hidden by a policy',
      'CREATE POLICY more ON archivist.blob AS RESTRICTIVE USING (false)',
      'DROP POLICY more ON archivist.blob',
      /policy more of 1 tables: the migrations do not create it/,
    ],
    [
      'row-level security is off',
      'ALTER TABLE archivist.blob DISABLE ROW LEVEL SECURITY',
      'ALTER TABLE archivist.blob ENABLE ROW LEVEL SECURITY',
      /row-level security of \d+ tables/,
    ],
    [
      'a trigger does not run',
      'ALTER TABLE archivist.access_policy DISABLE TRIGGER weighed',
      'ALTER TABLE archivist.access_policy ENABLE TRIGGER weighed',
      /trigger weighed of access_policy: it differs from what the migrations create/,
    ],
    [
      'a trigger runs the function of another schema that has its name',
      [
        `CREATE FUNCTION public.weigh_access_policy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
        TRIGGER.replace('archivist.weigh', 'public.weigh'),
      ],
      [TRIGGER, 'DROP FUNCTION public.weigh_access_policy()'],
      /trigger weighed of access_policy: it differs/,
    ],
  ])('finds that %s, and nothing once it is undone', async (_, change, undo, fault) => {
    await running.asOwner(...[change].flat());
    const faults = await audit().finally(() => running.asOwner(...[undo].flat()));
    expect(faults).toContainEqual(expect.stringMatching(fault));
    expect(await audit()).toEqual([]);
  });

  it('finds an event with the id of a logged event of the other kind, which is served as waiting', async () => {
    const assetEvent = identities[2 * EVENTS - 1]!.split('/').at(-1)!;
    const assetFreeEvent = identities.at(-1)!.split('/').at(-1)!;
    const ofBoth = `FROM archivist.asset_event e JOIN archivist.asset_free_event f USING (tenant_id)
      WHERE e.event_id = '${assetEvent}' AND f.event_id = '${assetFreeEvent}'`;
    const forged = [
      {
        id: assetFreeEvent,
        path: identities[2 * EVENTS - 1]!.replace(assetEvent, assetFreeEvent),
        table: 'asset_event',
        row: `INSERT INTO archivist.asset_event (tenant_id, event_id, asset_id, origin_tenant_id, operation, behaviour,
            event_attributes, asset_attributes, principal_declared, principal_accepted, timestamp_declared,
            timestamp_accepted, accepted_at, from_address)
          SELECT tenant_id, f.event_id, asset_id, origin_tenant_id, operation, behaviour, event_attributes, asset_attributes,
            principal_declared, principal_accepted, timestamp_declared, timestamp_accepted, accepted_at, from_address`,
      },
      {
        id: assetEvent,
        path: identities.at(-1)!.replace(assetFreeEvent, assetEvent),
        table: 'asset_free_event',
        row: `INSERT INTO archivist.asset_free_event (tenant_id, event_id, attributes, trails, event_type, creator_issuer, created_by, created_at_ms)
          SELECT tenant_id, e.event_id, attributes, trails, event_type, creator_issuer, created_by, created_at_ms`,
      },
    ];
    for (const { id, path, table, row } of forged) {
      await running.asOwner(`${row} ${ofBoth}`);
      const shown = (await running.owner.get(`/archivist/${path}`)).json;
      const faults = await audit();
      await running.asOwner(`DELETE FROM archivist.${table} WHERE event_id = '${id}'`);
      expect(shown['confirmation_status']).toBe('STORED');
      expect(faults.join('\n')).toContain(`event ${id} was never accepted`);
    }
    expect(await audit()).toEqual([]);
  });

  it('finds a vCon operation and an asset-free event that are in no statement log and wait for none', async () => {
    const lost = [identities[EVENTS - 1]!, identities[2 * EVENTS - 1]!, identities.at(-1)!].map((identity) => {
      return identity.split('/').at(-1)!;
    });
    await running.asOwner(
      `CREATE TABLE archivist.aside AS SELECT * FROM archivist.leaf WHERE entry_kind = 'statement' AND entry_id IN ('${lost.join(`','`)}')`,
    );
    const take =
      'DELETE FROM archivist.leaf l USING archivist.aside a WHERE l.log_id = a.log_id AND l.entry_id = a.entry_id';
    await running.asOwner(take);
    const faults = (await audit()).filter((fault) => fault.includes('in a statement log'));
    await running.asOwner('INSERT INTO archivist.leaf SELECT * FROM archivist.aside');
    await running.asOwner('DROP TABLE archivist.aside');
    expect(faults.map((fault) => /event (\S+) has no entry/.exec(fault)?.[1]).sort()).toEqual(
      [lost[0], lost[0], lost[1], lost[2]].sort(),
    );
    expect(await audit()).toEqual([]);
  });

  it('gives no verdict where the object store does not answer', async () => {
    const environment = {
      ...running.environment,
      OBJECT_STORE_URL: 's3://objects',
      AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1',
      AWS_ACCESS_KEY_ID: 'none',
      AWS_SECRET_ACCESS_KEY: 'none',
    };
    await expect(faultsOfAudit({ ...running, environment })).rejects.toThrow(ObjectStoreFailed);
  });

  it('finds an event that nobody accepted, and one that is gone', async () => {
    await running.asOwner(
      `INSERT INTO archivist.asset_free_event (tenant_id, event_id, attributes, trails, event_type, created_by, creator_issuer, created_at_ms)
       SELECT tenant_id, gen_random_uuid(), attributes, trails, event_type, created_by, creator_issuer, created_at_ms
         FROM archivist.asset_free_event WHERE event_type = 'created'`,
    );
    expect((await audit()).join()).toMatch(/never accepted/);
    await running.asOwner(`DELETE FROM archivist.asset_free_event WHERE event_type = 'created'`);
    expect((await audit()).join()).toMatch(/is missing/);
  });

  it('finds a history that was cut short, by what the object store has of it', async () => {
    await running.asOwner(
      `DELETE FROM archivist.seal s USING archivist.log g WHERE g.log_id = s.log_id AND s.seal_number = g.seal_number AND g.name LIKE 'log/%'`,
    );
    expect((await audit()).join()).toMatch(/seal/);
  });
});

describe('vcon-archivist audit', () => {
  it('exits 2 when there is no database to read', async () => {
    const { exitCode, err } = await commandLine(['audit'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect([exitCode, err.split('\n')]).toEqual([2, [expect.any(String)]]);
  });

  it.each(['1e1', '0x2', '', ' 2', '+2', '-1', '65', 'two'])('exits 2 for %j threads', async (threads) => {
    const { exitCode, err } = await commandLine(['audit', `--threads=${threads}`], {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    });
    expect([exitCode, err]).toEqual([2, expect.stringContaining('--threads must be a number from 0 to 64')]);
  });
});
