import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ArchivistReader, openReader } from '../../src/cli/archivist-reader.js';
import { exportParts } from '../../src/cli/export-parts.js';
import { INDEX_PATH, readBundleIndex } from '../../src/core/bundle/bundle-index.js';
import { OPERATION_FILES } from '../../src/core/bundle/bundle-layout.js';
import { toHex, utf8 } from '../../src/core/bytes.js';
import { openBundle } from '../../src/core/evidence/open-bundle.js';
import { sha256 } from '../../src/core/sha256.js';
import { parseConfig } from '../../src/service/config/config.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { commandLine } from '../support/command-line.js';

const UUID = '0192e8f5-0000-7000-8000-00000000000e';
const VCON = `{"vcon": "0.3.0", "uuid": "${UUID}", "parties": [], "dialog": []}`;
const folder = mkdtempSync(join(tmpdir(), 'export-parts-'));
const identitiesIn = (zip: Uint8Array) =>
  readBundleIndex(openBundle(zip)[INDEX_PATH]!).operations.map(({ identity }) => identity);

afterAll(() => rmSync(folder, { recursive: true }));

describe('more evidence than verifiers read in one bundle', () => {
  let running: TestService;
  let reader: ArchivistReader;

  const record = async () => {
    const attributes = {
      vcon_operation: 'vcon_created',
      payload: toHex(sha256(utf8(VCON))),
      payload_hash_alg: 'SHA-256',
      subject: `vcon://${UUID}`,
    };
    const { json } = await running.owner.post('/archivist/v1/events', { attributes });
    return { identity: `v1/${String(json['identity'])}`, operation: 'vcon_created' };
  };
  const parts = async (events: readonly { identity: string; operation: string }[], files: number, using = reader) => {
    const read: number[] = [];
    const zips: Uint8Array[] = [];
    const limits = { files, bytes: 1024 ** 3 };
    for await (const { zip } of exportParts(using, events, (count) => read.push(count), limits)) zips.push(zip);
    return { zips, read };
  };
  const verify = (...files: string[]) => {
    const keys = ['--log-keys', join(folder, 'log-keys.cbor'), '--issuer-keys', join(folder, 'did.json')];
    return commandLine(['verify', '--json', ...keys, ...files]);
  };
  const save = (zips: readonly Uint8Array[]) =>
    zips.map((zip, at) => {
      writeFileSync(join(folder, `part-${at + 1}.zip`), zip);
      return join(folder, `part-${at + 1}.zip`);
    });

  beforeAll(async () => {
    running = await startTestService({ MASSIF_HEIGHT: '3' });
    const environment = { ARCHIVIST_URL: running.url, ARCHIVIST_CLIENT_ID: running.owner.clientId };
    reader = await openReader(parseConfig({ ...environment, ARCHIVIST_CLIENT_SECRET: running.ownerSecret }));
    const published = async (path: string) => (await running.anonymous.get(path)).bytes;
    writeFileSync(join(folder, 'log-keys.cbor'), await published('/.well-known/scitt-keys'));
    writeFileSync(join(folder, 'did.json'), await published('/archivist/v1/didweb/did.json'));
  }, 60_000);
  afterAll(() => running?.close());

  it('is written as several bundles: each verifies by itself, and all of them verify together with the vCon', async () => {
    const events = [];
    for (let count = 0; count < 5; count += 1) events.push(await record());
    const { zips, read } = await parts(events, 12);
    expect(zips.map((zip) => identitiesIn(zip).length)).toEqual([2, 2, 1]);
    expect(zips.flatMap(identitiesIn)).toEqual(events.map(({ identity }) => identity.slice('v1/'.length)));
    expect(read).toEqual([1, 2, 3, 4, 5]);
    const files = save(zips);
    for (const file of files) expect((await verify(file)).exitCode).toBe(0);
    writeFileSync(join(folder, 'call.vcon.json'), VCON);
    const { out, exitCode } = await verify(...files, join(folder, 'call.vcon.json'));
    expect(exitCode).toBe(0);
    const { claims } = JSON.parse(out) as { claims: { kind: string; facts: Record<string, string> }[] };
    const proven = claims.flatMap(({ kind, facts }) => (kind === 'event' ? (facts['identity'] ?? []) : []));
    expect(new Set(proven)).toEqual(new Set(events.map(({ identity }) => identity.slice('v1/'.length))));
  }, 60_000);

  it('has each massif as its newest seal says, also if the log grows while the events are read', async () => {
    const events = [await record(), await record()];
    let hasGrown = false;
    const growing: ArchivistReader = {
      json: (path, body) => reader.json(path, body),
      bytes: async (path) => {
        // Between the first event, with which the massif is read, and the second one.
        if (path.includes(events[1]!.identity) && !hasGrown) {
          hasGrown = true;
          await reader.bytes(`/archivist/${(await record()).identity}/evidence`);
        }
        return reader.bytes(path);
      },
    };
    const { zips } = await parts(events, 1_000, growing);
    const [file, ...more] = save(zips);
    expect(more).toEqual([]);
    expect((await verify(file!)).exitCode).toBe(0);
  }, 60_000);
});

describe('an export of more events than one file can hold', () => {
  const events = Array.from({ length: 2_230 }, (_, at) => ({
    identity: `events/${String(at).padStart(4, '0')}`,
    attributes: {},
  }));
  const evidence = zipSync(Object.fromEntries(Object.keys(OPERATION_FILES).map((name) => [name, utf8('{}')])));
  const service = createServer((request, response) => {
    if (request.url!.endsWith('/token')) response.end('{"access_token":"token"}');
    else if (request.url!.includes('/evidence')) response.end(evidence);
    else response.end(JSON.stringify({ events: request.url!.startsWith('/archivist/v1/events?') ? events : [] }));
  });

  beforeAll(() => new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve)));
  afterAll(() => void service.close());

  it('writes files with numbers in their names, which verifiers read, and names them', async () => {
    const place = mkdtempSync(join(folder, 'out-'));
    const { exitCode, err, out } = await commandLine(['export', UUID, '--out', join(place, 'evidence.zip')], {
      ARCHIVIST_CLIENT_ID: '0192e8f5-0000-7000-8000-00000000000a',
      ARCHIVIST_CLIENT_SECRET: 'a'.repeat(64),
      ARCHIVIST_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    });
    expect([exitCode, err]).toEqual([0, '']);
    const names = ['evidence-1.zip', 'evidence-2.zip'];
    expect(readdirSync(place)).toEqual(names);
    const paths = names.map((name) => join(place, name));
    expect(out).toContain(`2230 events about vcon://${UUID} written to ${paths.join(', ')}`);
    const found = paths.flatMap((path) => identitiesIn(new Uint8Array(readFileSync(path))));
    expect(found).toEqual(events.map(({ identity }) => identity));
  }, 120_000);
});
