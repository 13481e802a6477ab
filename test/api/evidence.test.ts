import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unzipSync, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { INDEX_PATH, readBundleIndex } from '../../src/core/bundle/bundle-index.js';
import { OPERATION_FILES, PAGE_PATH } from '../../src/core/bundle/bundle-layout.js';
import { toHex, utf8 } from '../../src/core/bytes.js';
import { sha256 } from '../../src/core/sha256.js';
import { commandLine } from '../support/command-line.js';
import { startTestService, type TestService } from './test-service.js';

const UUID = '0192e8f5-0000-7000-8000-00000000000e';
const VCON = utf8(`{"vcon": "0.3.0", "uuid": "${UUID}", "parties": [], "dialog": []}`);
const PATIENCE = { timeout: 40_000, interval: 200 };
const folder = mkdtempSync(join(tmpdir(), 'evidence-'));
let running: TestService;
let identities: string[];
let logKeys: string;
let issuerKeys: string;

function file(path: string, content: string | Uint8Array): string {
  const place = join(folder, path);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, content);
  return place;
}

const cli = (...args: string[]) => commandLine(args);

const verify = (...args: string[]) => cli('verify', '--log-keys', logKeys, '--issuer-keys', issuerKeys, ...args);

function operation(name: string, vcon: Uint8Array) {
  return {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: {
      arc_display_type: name,
      vcon_operation: name,
      payload: toHex(sha256(vcon)),
      payload_hash_alg: 'SHA-256',
      subject: `vcon://${UUID}`,
    },
  };
}

beforeAll(async () => {
  running = await startTestService();
  const asset = await running.owner.post('/archivist/v2/assets', {
    public: true,
    attributes: { arc_display_type: 'vcon' },
  });
  const post = (name: string, vcon: Uint8Array) =>
    running.owner.post(`/archivist/v2/${asset.json['identity']}/events`, operation(name, vcon));
  identities = [
    (await post('vcon_created', utf8('{}'))).json['identity'] as string,
    (await post('vcon_transcribed', VCON)).json['identity'] as string,
  ];
  const { json } = await running.owner.post('/archivist/v1/events', {
    attributes: { note: 'kept' },
    trails: [`vcon://${UUID}`],
    event_type: 'note',
  });
  identities.push(json['identity'] as string);
  const plain = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: { arc_display_type: 'note' } };
  const noted = await running.owner.post(`/archivist/v2/${asset.json['identity']}/events`, plain);
  identities.push(noted.json['identity'] as string);
  logKeys = file('log-keys.cbor', (await running.anonymous.get('/.well-known/scitt-keys')).bytes);
  issuerKeys = file('did.json', (await running.anonymous.get('/archivist/v1/didweb/did.json')).bytes);
}, 60_000);
afterAll(async () => {
  await running?.close();
  rmSync(folder, { recursive: true });
});

async function evidence(path: string, query = ''): Promise<Record<string, Uint8Array>> {
  const ready = await vi.waitFor(async () => {
    const answer = await running.owner.get(`/archivist/${path}/evidence${query}`);
    expect(answer.status).toBe(200);
    return answer;
  }, PATIENCE);
  expect(ready.headers.get('content-type')).toBe('application/zip');
  return unzipSync(ready.bytes);
}

const FORMS: readonly [string, () => string][] = [
  ['an asset event', () => `v2/${identities[1]}`],
  ['the public form of one', () => `v2/public${identities[1]}`],
  ['an asset-free event', () => `v1/${identities[2]}`],
];

describe('the evidence of an event', () => {
  it.each(FORMS)('of %s holds everything that an offline check needs', async (what, path) => {
    const files = await evidence(path());
    const place = what.replaceAll(' ', '-');
    for (const [name, bytes] of Object.entries(files)) file(`${place}/${name}`, bytes);
    const [event, log] = [join(folder, place, 'event.json'), join(folder, place, 'log')];
    const checked = await verify(event, log);
    expect(checked.out).toContain('VERIFIED.');
    expect((await verify(event, join(folder, place, 'tenancy-log-receipt.cose'))).exitCode).toBe(0);
    expect((await verify(event, join(folder, place, 'tenancy-log-receipt-map.cose'))).exitCode).toBe(0);
    expect(Object.keys(files)).toEqual(expect.arrayContaining(['README.txt', 'keys/log-keys.cbor', 'keys/did.json']));
    if (what === 'an asset-free event') return;
    const statement = join(folder, place, 'signed-statement.cose');
    expect((await verify(statement, join(folder, place, 'statement-log-receipt.cose'))).exitCode).toBe(0);
    const vcon = file(`${place}/vcon.json`, VCON);
    const whole = await verify(vcon, join(folder, place, 'transparent-statement.cose'));
    expect(whole.out).toContain('VERIFIED.');
  });

  it.each([
    ['an asset event', () => `v2/${identities[1]}`],
    ['an asset event without a vCon', () => `v2/${identities[3]}`],
    ['an asset-free event', () => `v1/${identities[2]}`],
  ])('of %s is indexed whole, and its text describes these files and no other', async (_, path) => {
    const files = await evidence(path());
    const { [INDEX_PATH]: index, [PAGE_PATH]: _page, ...rest } = files;
    const { operations, files: listed } = readBundleIndex(index!);
    expect(operations).toEqual([{ number: 1, folder: '', identity: path().slice(3) }]);
    expect(listed.map((each) => [each.path, each.sha256])).toEqual(
      Object.keys(rest)
        .sort()
        .map((each) => [each, toHex(sha256(rest[each]!))]),
    );
    const text = new TextDecoder().decode(files['README.txt']);
    for (const name of Object.keys(OPERATION_FILES))
      expect([name, text.includes(name.replace(/^witness\//, ''))]).toEqual([name, name in files]);
    expect(text.includes('SHA-256(0x00 || idtimestamp || V3)')).toBe(path().startsWith('v2'));
    expect(text.includes('SHA-256(0x00 || extra || idtimestamp')).toBe(path().startsWith('v1'));
    expect(text.includes('SHA-256(0x00 || signed-statement.cose)')).toBe('signed-statement.cose' in files);
  });

  it.each(FORMS)(
    'of %s can do without the page, and without the massif, which is then said to be missing',
    async (what, path) => {
      const whole = await evidence(path());
      const described = new Set([PAGE_PATH, INDEX_PATH, 'README.txt']);
      const isMassif = (name: string) => name.startsWith('log/') && name.endsWith('.log');
      const withoutPage = await evidence(path(), '?without=page');
      const withoutBoth = await evidence(path(), '?without=page,massif');
      const names = Object.keys(whole).filter((name) => name !== PAGE_PATH);
      expect(Object.keys(withoutPage)).toEqual(names);
      expect(Object.keys(withoutBoth)).toEqual(names.filter((name) => !isMassif(name)));
      for (const [name, bytes] of Object.entries(withoutBoth))
        if (!described.has(name)) expect([name, toHex(bytes)]).toEqual([name, toHex(whole[name]!)]);
      expect(new TextDecoder().decode(withoutPage['README.txt'])).not.toContain(PAGE_PATH);
      const part = (name: string, files: Record<string, Uint8Array>) =>
        verify(file(`${what.replaceAll(' ', '-')}-${name}.zip`, zipSync(files)));
      expect((await part('page', withoutPage)).exitCode).toBe(0);
      expect(await part('both', withoutBoth)).toMatchObject({
        exitCode: 3,
        out: expect.stringContaining('its massif is missing'),
      });
    },
  );

  it('cannot do without anything else', async () => {
    const { status } = await running.owner.get(`/archivist/v2/${identities[1]}/evidence?without=massif`);
    expect(status).toBe(400);
  });

  it('is not there before the log is sealed, nor for who may not read the event', async () => {
    const stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    expect((await stranger.get(`/archivist/v2/${identities[0]}/evidence`)).status).toBe(404);
    expect((await running.anonymous.get(`/archivist/v2/${identities[0]}/evidence`)).status).toBe(401);
  });
});

describe('vcon-archivist export', () => {
  afterAll(() => void vi.unstubAllEnvs());

  it('writes one file about a vCon, which verify takes with the vCon', async () => {
    await evidence(`v2/${identities[1]}`);
    const secret = running.ownerSecret;
    vi.stubEnv('ARCHIVIST_URL', running.url);
    vi.stubEnv('ARCHIVIST_CLIENT_ID', running.owner.clientId);
    vi.stubEnv('ARCHIVIST_CLIENT_SECRET', secret);
    const out = join(folder, 'all.zip');
    const { out: said, err, exitCode } = await cli('export', UUID, '--out', out);
    expect(err).toBe('');
    expect([exitCode, said]).toEqual([0, `3 events about vcon://${UUID} written to ${out}`]);
    const vcon = file('whole.vcon.json', VCON);
    const checked = await verify(vcon, out);
    expect(checked.out).toContain('0002-vcon_transcribed');
    expect(checked.exitCode).toBe(0);
    const other = await verify(file('other.json', '{"vcon":"x"}'), out);
    expect(other.out).toContain('[payload_hash_mismatch]');
  });

  it('reads the pieces of every event, but each massif once and no page', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const read = () => fetched.mock.calls.map(([url]) => String(url)).filter((url) => url.includes('/evidence'));
    const out = join(folder, 'pieces.zip');
    expect((await cli('export', UUID, '--out', out)).exitCode).toBe(0);
    const queries = read().map((url) => new URL(url).search);
    fetched.mockRestore();
    const massifs = Object.keys(unzipSync(readFileSync(out))).filter((name) => /^log\/.*\.log$/.test(name));
    expect(queries.filter((query) => query === '?without=page,massif')).toHaveLength(3);
    expect(massifs.length).toBeGreaterThan(0);
    expect(queries.filter((query) => query === '?without=page')).toHaveLength(massifs.length);
    expect(queries).toHaveLength(3 + massifs.length);
  });

  it('exits 2 when there is nothing to export, or the service refuses', async () => {
    expect((await cli('export', UUID.replace(/e$/, 'f'))).err).toContain('no event');
    expect((await cli('export', 'not-a-uuid')).exitCode).toBe(2);
    vi.stubEnv('ARCHIVIST_CLIENT_SECRET', 'x'.repeat(64));
    const refused = await cli('export', UUID);
    expect([refused.exitCode, refused.err.includes('x'.repeat(64))]).toEqual([2, false]);
  });
});
