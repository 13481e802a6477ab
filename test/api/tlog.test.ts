import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { toHex } from '../../src/core/bytes.js';
import { rfc9162Leaf } from '../../src/core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../src/core/rfc9162/rfc9162-parent.js';
import { sha256 } from '../../src/core/sha256.js';
import { type Checkpoint, decodeCheckpoint } from '../../src/core/tlog/checkpoint.js';
import { decodeVkey, verifyNote } from '../../src/core/tlog/signed-note.js';
import { startTestService, type TestService } from './test-service.js';

interface ListedLog {
  readonly id: string;
  readonly kind: 'public' | 'private';
  readonly origin: string;
  readonly vkey: string;
  readonly url: string;
}

const ENTRIES = 260;
const PATIENCE = { timeout: 60_000, interval: 200 };
let running: TestService;
let logs: ListedLog[];
const prefix = (kind: ListedLog['kind']) => `/verifiabledata/tlog/${logs.find((log) => log.kind === kind)!.id}`;

beforeAll(async () => {
  running = await startTestService();
  logs = (await running.anonymous.get('/verifiabledata/tlog')).json['logs'] as ListedLog[];
  for (const isPublic of [true, false]) {
    const asset = await running.owner.post('/archivist/v2/assets', { public: isPublic, attributes: {} });
    const path = `/archivist/v2/${asset.json['identity']}/events:bulk`;
    const events = Array.from({ length: ENTRIES }, (_, number) => ({ ...templateEvent(number) }));
    const answer = await running.owner.post(path, { events });
    expect(answer.status).toBe(200);
  }
  for (const kind of ['public', 'private'] as const)
    await vi.waitFor(async () => expect((await checkpoint(kind)).size).toBe(BigInt(ENTRIES)), PATIENCE);
}, 120_000);
afterAll(() => running?.close());

function templateEvent(number: number) {
  return {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: {
      payload: toHex(sha256(Uint8Array.of(number & 255, number >> 8))),
      payload_hash_alg: 'SHA-256',
      subject: 'vcon://0192e8f5-0000-7000-8000-000000000001',
      vcon_operation: 'vcon_created',
    },
  };
}

async function checkpoint(kind: ListedLog['kind']): Promise<Checkpoint> {
  const { bytes } = await running.anonymous.get(`${prefix(kind)}/checkpoint`);
  const vkey = logs.find((log) => log.kind === kind)!.vkey;
  return decodeCheckpoint(await verifyNote(new TextDecoder().decode(bytes), [decodeVkey(vkey)]));
}

const tile = (kind: ListedLog['kind'], name: string) => running.anonymous.get(`${prefix(kind)}/tile/${name}`);

function hashesOf(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: bytes.length / 32 }, (_, at) => bytes.subarray(32 * at, 32 * at + 32));
}

/** The root by the recursive definition of RFC 9162 2.1.1. */
function rootOf(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 1) return leaves[0]!;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return rfc9162Parent(0n, rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)));
}

describe('a statement log as tlog-tiles', () => {
  it('is listed with its origin, its verifier key and its address', () => {
    expect(logs.map(({ kind }) => kind).sort()).toEqual(['keys', 'private', 'public']);
    for (const log of logs) {
      expect(log.origin).toBe(`log/${log.id}`);
      expect(log.url).toBe(`${running.url}/verifiabledata/tlog/${log.id}`);
      expect(decodeVkey(log.vkey).name).toBe(log.origin);
    }
  });

  it.each(['public', 'private'] as const)('has a checkpoint over what its %s tiles hold', async (kind) => {
    const { origin, size, root } = await checkpoint(kind);
    expect(origin).toBe(logs.find((log) => log.kind === kind)!.origin);
    const leaves = [
      ...hashesOf((await tile(kind, '0/000')).bytes),
      ...hashesOf((await tile(kind, `0/001.p/${size - 256n}`)).bytes),
    ];
    expect(leaves).toHaveLength(Number(size));
    expect(toHex(rootOf(leaves))).toBe(toHex(root));
    const top = hashesOf((await tile(kind, '1/000.p/1')).bytes);
    expect(top.map(toHex)).toEqual([toHex(rootOf(leaves.slice(0, 256)))]);
  });

  it('has bundles of the public entries, under the leaves of its tiles', async () => {
    for (const [name, width] of [
      ['000', 256],
      ['001.p/4', 4],
    ] as const) {
      const leaves = hashesOf((await tile('public', `0/${name}`)).bytes);
      const { bytes } = await tile('public', `entries/${name}`);
      const entries: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; ) {
        const end = at + 2 + ((bytes[at]! << 8) | bytes[at + 1]!);
        entries.push(bytes.subarray(at + 2, end));
        at = end;
      }
      expect(entries).toHaveLength(width);
      expect(entries.map((entry) => toHex(rfc9162Leaf(entry)))).toEqual(leaves.map(toHex));
    }
  });

  it('that was never forked has no fork and no other generation', async () => {
    const said = async (path: string) => {
      const { status, headers, json } = await running.anonymous.get(path);
      return [status, headers.get('access-control-allow-origin'), json['description']];
    };
    expect(await said(`${prefix('public')}/forks`)).toEqual([404, '*', 'log: it was never forked.']);
    const none = [404, '*', 'log: there is no such statement log.'];
    expect(await said(`${prefix('public')}.7/checkpoint`)).toEqual(none);
    const owner = running.owner.token;
    const claims = JSON.parse(Buffer.from(owner.split('.')[1]!, 'base64url').toString()) as { jit_tenant_id: string };
    const massif = (log: string) => `/verifiabledata/merklelogs/v1/mmrs/${log}/0/massifs/0000000000000000.log`;
    await vi.waitFor(async () => expect((await running.owner.get(massif(claims.jit_tenant_id))).status).toBe(200));
    expect((await running.owner.get(massif(`${claims.jit_tenant_id}.7`))).status).toBe(404);
  });

  it('keeps the entries of the private log to itself', async () => {
    expect((await tile('private', 'entries/000')).status).toBe(404);
    expect((await running.owner.get(`${prefix('private')}/tile/entries/000`)).status).toBe(404);
  });

  it('has tiles that never change, and a checkpoint that is always asked for again', async () => {
    const { headers } = await tile('public', '0/000');
    expect(headers.get('cache-control')).toContain('immutable');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    const newest = await running.anonymous.get(`${prefix('public')}/checkpoint`);
    expect(newest.headers.get('cache-control')).toContain('no-cache');
    expect(newest.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  it.each([
    '0/001',
    '0/001.p/5',
    '0/002',
    '1/000',
    '1/000.p/2',
    '2/000.p/1',
    '0/1',
    '0/000.p/256',
    'x',
    '0/x001/000',
    '64/000',
    'entries/001',
  ])('has no tile %s', async (name) => {
    const { status, json } = await tile('public', name);
    expect(status).toBe(404);
    expect(json['error']).toBe('not_found');
  });

  it('has smaller partial tiles too, the first hashes of the larger', async () => {
    const whole = await tile('public', '0/000');
    const part = await tile('public', '0/000.p/3');
    expect(toHex(part.bytes)).toBe(toHex(whole.bytes.subarray(0, 96)));
  });
});

describe('the search of logs by tags', () => {
  const search = (where: string, marker = '') =>
    running.anonymous.get(`/verifiabledata/?comp=blobs&where=${encodeURIComponent(where)}${marker}`);

  it('names the head massif and its seal of every log, each where it is served, with the id of the last leaf', async () => {
    const { status, headers, bytes } = await search(`"lastid">='${'0'.repeat(18)}'`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('application/xml');
    const xml = new TextDecoder().decode(bytes);
    const blobs = [
      ...xml.matchAll(/<Blob><Name>([^<]+)<\/Name><ContainerName>merklelogs<\/ContainerName>.*?<\/Blob>/g),
    ];
    expect(blobs).toHaveLength(4);
    expect(xml).toContain(`<EnumerationResults ServiceEndpoint="${running.url}/verifiabledata/"><Where>`);
    for (const [blob, name] of blobs) {
      const file = await running.anonymous.get(`/verifiabledata/merklelogs/${name}`);
      expect(file.status).toBe(200);
      const lastid = /<Key>lastid<\/Key><Value>([0-9a-f]{18})<\/Value>/.exec(blob)![1]!;
      if (name!.endsWith('.log')) {
        expect(`01${toHex(file.bytes.subarray(8, 16))}`).toBe(lastid);
        expect(blob).toContain('<Key>firstindex</Key><Value>0000000000000000</Value>');
      }
    }
  });

  it('names no log whose leaves are all older', async () => {
    const xml = new TextDecoder().decode((await search(`"lastid">='${'f'.repeat(18)}'`)).bytes);
    expect(xml).toContain('<Blobs></Blobs><NextMarker></NextMarker>');
  });

  it.each(['', '"lastid"', '"lastid">=\'1\'', '"other">=\'000000000000000000\'', '"lastid"<\'000000000000000000\''])(
    'refuses any other filter: %s',
    async (where) => {
      const { status, json } = await search(where);
      expect(status).toBe(400);
      expect(json['description']).toContain('where');
    },
  );

  it('refuses a marker that it did not give', async () => {
    expect((await search(`"lastid">='${'0'.repeat(18)}'`, '&marker=x')).status).toBe(400);
  });
});

describe('a log file', () => {
  const BASE = '/verifiabledata/merklelogs/v1/mmrs/tenant';
  let massif: string;
  const get = (headers: Record<string, string> = {}, path = massif) => running.anonymous.get(path, headers);
  beforeAll(async () => {
    const where = encodeURIComponent(`"lastid">='${'0'.repeat(18)}'`);
    const { bytes } = await running.anonymous.get(`/verifiabledata/?comp=blobs&where=${where}`);
    massif = `/verifiabledata/merklelogs/${/<Name>([^<]+\.log)</.exec(new TextDecoder().decode(bytes))![1]}`;
  });

  it('that is read in pieces is never put together from two states', async () => {
    const { headers, bytes } = await get();
    const etag = headers.get('etag')!;
    expect(Date.parse(headers.get('last-modified')!)).toBeGreaterThan(Date.now() - 600_000);
    const piece = { range: 'bytes=0-31' };
    expect((await get({ ...piece, 'if-match': etag })).status).toBe(206);
    const changed = await get({ ...piece, 'if-match': '"another"' });
    expect([changed.status, changed.headers.get('x-ms-error-code')]).toEqual([412, 'ConditionNotMet']);
    expect((await get({ ...piece, 'if-range': '"another"' })).bytes).toHaveLength(bytes.length);
    expect((await get({ 'if-none-match': `"another", W/${etag}` })).status).toBe(304);
    const since = headers.get('last-modified')!;
    expect((await get({ ...piece, 'if-unmodified-since': since })).status).toBe(206);
    const older = new Date(Date.parse(since) - 1000).toUTCString();
    expect((await get({ ...piece, 'if-unmodified-since': older })).status).toBe(412);
  });

  it('is cut as x-ms-range says if there is a Range beside it, as at Azure', async () => {
    const { headers, bytes } = await get({ range: 'bytes=0-31', 'x-ms-range': 'bytes=0-7' });
    expect([bytes.length, headers.get('content-range')?.split('/')[0]]).toEqual([8, 'bytes 0-7']);
  });

  it.each(['bytes=99999999-', 'bytes=18446744073709551616-', 'bytes=-0'])(
    'has nothing in the range %s',
    async (range) => {
      const { status, headers } = await get({ range });
      expect([status, headers.get('x-ms-error-code')]).toEqual([416, 'InvalidRange']);
      expect(headers.get('content-range')).toMatch(/^bytes \*\/\d+$/);
    },
  );

  it('is refused in words that a page of another origin and an Azure client can read', async () => {
    const missing = `${BASE}/00000000-0000-0000-0000-000000000000/0/massifs/0000000000000000.log`;
    const answers = [
      [await get({}, missing), 404, 'BlobNotFound'],
      [await get({}, '/verifiabledata/?comp=list'), 400, 'InvalidQueryParameterValue'],
      [await running.anonymous.post(massif, {}), 405, 'UnsupportedHttpVerb'],
    ] as const;
    for (const [{ status, headers, json }, expected, code] of answers) {
      expect([status, headers.get('x-ms-error-code')]).toEqual([expected, code]);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(json['description']).toBeTruthy();
    }
  });

  it('may be asked for by a page with all headers that clients send', async () => {
    const preflight = await fetch(`${running.url}${massif}`, { method: 'OPTIONS' });
    const allowed = preflight.headers.get('access-control-allow-headers')!.split(', ');
    expect(allowed).toEqual(expect.arrayContaining(['range', 'if-none-match', 'if-match', 'x-ms-version']));
  });
});

describe('log files that are for members', () => {
  const search = `/verifiabledata?comp=blobs&where=${encodeURIComponent(`"lastid">='${'0'.repeat(18)}'`)}`;
  let closed: TestService;
  let tenant: string;
  let massif: string;
  beforeAll(async () => {
    closed = await startTestService({ LOG_FILES: 'members', MASSIF_HEIGHT: '4' });
    const asset = await closed.owner.post('/archivist/v2/assets', { public: true, attributes: {} });
    tenant = asset.json['tenant_identity'] as string;
    massif = `/verifiabledata/merklelogs/v1/mmrs/${tenant}/0/massifs/0000000000000000.log`;
    const events = Array.from({ length: 20 }, (_, number) => templateEvent(number));
    await closed.owner.post(`/archivist/v2/${asset.json['identity']}/events:bulk`, { events });
    const next = massif.replace('0.log', '1.log');
    await vi.waitFor(async () => expect((await closed.owner.get(next)).status).toBe(200), PATIENCE);
  }, 120_000);
  afterAll(() => closed?.close());

  it('are shown to the members of their tenancy, with the public log, and to nobody else', async () => {
    const stranger = await closed.client({ roles: ['OWNER'], otherTenancy: true });
    expect((await closed.anonymous.get(massif)).status).toBe(401);
    expect((await stranger.get(massif)).status).toBe(404);
    const seen = async (caller: typeof stranger) => new TextDecoder().decode((await caller.get(search)).bytes);
    expect(await seen(closed.owner)).toContain(tenant);
    expect(await seen(stranger)).not.toContain(tenant);
  });

  it('are kept by no shared cache and readable by no page of another origin', async () => {
    const answers = [
      [await closed.owner.get(massif), 200, 'private, max-age=31536000, immutable'],
      [await closed.owner.get(massif, { range: 'bytes=0-31' }), 206, 'private, max-age=31536000, immutable'],
      [await closed.owner.get(search), 200, 'private, no-cache'],
      [await closed.owner.get(massif.replace('0.log', '9.log')), 404, 'no-store'],
      [await closed.anonymous.get(massif), 401, 'no-store'],
    ] as const;
    for (const [{ status, headers }, expected, caching] of answers) {
      expect([status, headers.get('cache-control')]).toEqual([expected, caching]);
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});
