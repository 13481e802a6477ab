import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditKeys } from '../../src/archivist/audit/audit-keys.js';
import { auditRegistrations } from '../../src/archivist/audit/audit-registrations.js';
import { issueManifest } from '../../src/archivist/keys/issue-manifest.js';
import { keyThumbprint } from '../../src/core/cose/cose-key.js';
import { readKeyManifest } from '../../src/core/keys/read-key-manifest.js';
import { manifestObjectKey } from '../../src/platform/keys/manifest/manifest-objects.js';
import { nodeVerify } from '../../src/platform/keys/node-verify.js';
import { openObjectStore } from '../../src/platform/open-object-store.js';
import { parseConfig } from '../../src/service/config/config.js';
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

describe('the audit of registrations', () => {
  it('finds that the submitted bytes of one are no statement, and still reads the others', async () => {
    const faults: string[] = [];
    const { database, deployment } = running.service.parts;
    const audited = { database, deployment, fault: (_: string, what: string) => void faults.push(what) };
    const set = (submitted: string) =>
      running.asOwner(
        `UPDATE archivist.registration SET submitted = ${submitted} WHERE event_id IN (SELECT event_id FROM archivist.registration ORDER BY event_id LIMIT 2)`,
      );
    await running.asOwner('CREATE TABLE public.kept AS SELECT event_id, submitted FROM archivist.registration');
    await set(`'\\x00'`);
    await auditRegistrations({
      ...audited,
      objectStore: await objects(),
    });
    await set('(SELECT k.submitted FROM public.kept k WHERE k.event_id = registration.event_id)');
    await running.asOwner('DROP TABLE public.kept');
    const differs = faults.filter((fault) => fault.endsWith('differs from the one in the log'));
    expect(new Set(differs).size).toBe(2);
  });
});

/** What the audit of the keys finds. */
async function faultsOfKeys(change: Partial<Parameters<typeof auditKeys>[0]> = {}): Promise<string[]> {
  const { database, deployment } = running.service.parts;
  const faults: string[] = [];
  const fault = (_name: string, what: string) => void faults.push(what);
  await auditKeys({
    database,
    deployment,
    objectStore: await objects(),
    verifySignature: nodeVerify,
    fault,
    ...change,
  });
  return faults;
}

const objects = () => openObjectStore(parseConfig(running.environment).objectStore);

describe('the audit of key manifests', () => {
  const newest = () => running.service.parts.keys.manifests.current;
  const next = () => manifestObjectKey(newest().manifest.subject, newest().manifest.number + 1);

  it('finds nothing where a manifest is made while it runs', async () => {
    const objectStore = await objects();
    let isMade = false;
    const get = async (key: string) => {
      if (!isMade) {
        isMade = true;
        const { keys } = running.service.parts;
        await issueManifest(keys, keys.manifests.current, {});
      }
      return objectStore.get(key);
    };
    expect(await faultsOfKeys({ objectStore: { ...objectStore, get } })).toEqual([]);
    expect(isMade).toBe(true);
  });

  it('finds by the object store, and by KEYS_DIR, that the database was rolled back to an older manifest', async () => {
    const objectStore = await objects();
    const { manifest, bytes } = newest();
    await objectStore.putNew(next(), bytes);
    const more = `key manifest ${manifest.number + 1}: the database was rolled back to an older state`;
    expect(await faultsOfKeys().finally(() => objectStore.remove(next()))).toEqual([`the object store has ${more}`]);
    const row = `archivist.key_manifest WHERE number = ${manifest.number}`;
    await running.asOwner(`CREATE TABLE public.kept AS SELECT * FROM ${row}`, `DELETE FROM ${row}`);
    const faults = await faultsOfKeys({ root: { remembered: bytes } });
    await running.asOwner('INSERT INTO archivist.key_manifest SELECT * FROM public.kept', 'DROP TABLE public.kept');
    expect(faults).toContain(
      `key manifest ${manifest.number} of KEYS_DIR is not in the database: the database was rolled back to an older state`,
    );
    expect(await faultsOfKeys({ root: { remembered: bytes } })).toEqual([]);
  });

  it('finds another manifest in KEYS_DIR or in the object store, and another root key', async () => {
    const objectStore = await objects();
    const { manifest, bytes } = newest();
    const other = bytes.with(bytes.length - 1, bytes.at(-1)! ^ 1);
    const key = manifestObjectKey(manifest.subject, 1);
    const first = (await objectStore.get(key))!;
    await objectStore.put(key, other);
    const thumbprint = new Uint8Array(32);
    const faults = await faultsOfKeys({ root: { remembered: other, thumbprint } });
    await objectStore.put(key, first);
    expect(faults).toEqual([
      'the key manifest is not signed by the root key that has this fingerprint',
      `key manifest ${manifest.number} of KEYS_DIR differs from the one in the database`,
      `${key} in the object store is damaged (the signature of key manifest ${manifest.number} does not match its content): restore it from a copy of the object store (docs/operate/keys.md#a-key-manifest-in-the-object-store-is-damaged)`,
    ]);
    const known = { remembered: bytes, thumbprint: keyThumbprint(readKeyManifest(first).manifest.root) };
    expect(await faultsOfKeys({ root: known })).toEqual([]);
  });

  it('finds that no manifest is stored, or that a key is not the one that the deployment uses', async () => {
    const set = async (table: string, columns: string, change: string, where: string) => {
      await running.asOwner(
        `CREATE TABLE public.kept AS SELECT * FROM archivist.${table} WHERE ${where}`,
        `UPDATE archivist.${table} SET ${change} WHERE ${where}`,
      );
      const faults = await faultsOfKeys();
      await running.asOwner(
        `UPDATE archivist.${table} SET (${columns}) = (SELECT ${columns} FROM public.kept) WHERE ${where}`,
        'DROP TABLE public.kept',
      );
      return faults;
    };
    const pepper = `role = 'token_pepper'`;
    for (const change of [`state = 'retired'`, `public_jwk = '{"k": "x"}'`, `valid_until = now()`])
      expect(await set('signing_key', 'state, public_jwk, valid_until', change, pepper)).toEqual([
        'the row that marks the token pepper was changed',
      ]);
    const { deploymentTenancy } = running.service.parts.deployment;
    const wallet = `wallet_address = reverse(wallet_address)`;
    expect(await set('tenancy', 'wallet_address', wallet, `tenant_id = '${deploymentTenancy}'`)).toEqual([
      `the wallet address of tenant/${deploymentTenancy} does not belong to its wallet key`,
    ]);
    await running.asOwner(
      'CREATE TABLE public.kept AS SELECT * FROM archivist.key_manifest',
      'DELETE FROM archivist.key_manifest',
    );
    const faults = await faultsOfKeys();
    await running.asOwner('INSERT INTO archivist.key_manifest SELECT * FROM public.kept', 'DROP TABLE public.kept');
    expect(faults).toContain('the database has no key manifest');
    expect(await faultsOfKeys()).toEqual([]);
  });
});

describe('the audit of the keys of tenancies', () => {
  const key = (order: string) => `(SELECT ${order}(key_id) FROM archivist.signing_key WHERE role = 'tessera')`;

  it.each([
    ['has no certificate', 'certificate = NULL', 'has no certificate of the issuer key: the service did not make it'],
    ['has bytes that are no certificate', `certificate = '\\x00'`, 'has an invalid certificate: '],
    [
      'has the certificate of another tenancy',
      `certificate = (SELECT certificate FROM archivist.signing_key WHERE key_id = ${key('max')})`,
      'differs from the key in its certificate',
    ],
    ['was valid earlier', `valid_from = valid_from - interval '1 day'`, 'differs from the key in its certificate'],
    [
      'has a member that its certificate lacks',
      `public_jwk = public_jwk || '{"d": "x"}'`,
      'differs from the key in its certificate',
    ],
    ['is of no known kind', `public_jwk = '{"kty": "none"}'`, 'cannot be read'],
    ['has a number instead of a coordinate', `public_jwk = public_jwk || '{"x": 5}'`, 'cannot be read'],
    ['has ended', `state = 'retired', valid_until = now()`, 'has an end, but keys of tenancies never end'],
  ])('finds that one %s', async (_, change, fault) => {
    const columns = 'certificate, valid_from, valid_until, public_jwk, state';
    const one = `WHERE key_id = ${key('min')}`;
    await running.asOwner(
      `CREATE TABLE public.kept AS SELECT * FROM archivist.signing_key ${one}`,
      `UPDATE archivist.signing_key SET ${change} ${one}`,
    );
    const faults = await faultsOfKeys();
    await running.asOwner(
      `UPDATE archivist.signing_key SET (${columns}) = (SELECT ${columns} FROM public.kept) ${one}`,
      'DROP TABLE public.kept',
    );
    expect(faults).toEqual([expect.stringContaining(`the tessera key `)]);
    expect(faults[0]).toContain(fault);
    expect(await faultsOfKeys()).toEqual([]);
  });
});
