import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scanBlobs } from '../../src/archivist/blobs/scan-blobs.js';
import { clamavScanner } from '../../src/platform/clamav.js';
import { fileObjectStore } from '../../src/platform/file-object-store.js';
import { createLogger } from '../../src/platform/logger.js';
import { freePort } from '../support/free-port.js';
import { clamdPath } from '../support/prerequisites.js';
import { BAD_TEXT, type ClamavDaemon, SIGNATURE, startClamavDaemon } from './clamav-daemon.js';
import { startTestService, type TestService, until } from './test-service.js';
import { uploadFile } from './upload-file.js';

const text = (value: string) => new TextEncoder().encode(value);
const TOO_LARGE = 1024 * 1024 + 1;

describe.skipIf(clamdPath === undefined)('with the real ClamAV daemon', () => {
  let daemon: ClamavDaemon;
  beforeAll(async () => {
    daemon = await startClamavDaemon(clamdPath!);
  });
  afterAll(() => daemon?.stop());

  it.each([
    ['tcpUrl', ''],
    ['socketPath', ''],
    ['socketPath', 'unix:'],
  ] as const)('the scanner judges content that it streams there (%s %s)', async (place, scheme) => {
    const scanner = clamavScanner(`${scheme}${daemon[place]}`);
    expect(await scanner.scan(Readable.from([text('good'), text('ness')]))).toEqual({ status: 'clean' });
    const [begin, end] = [text(`x${BAD_TEXT.slice(0, 9)}`), text(BAD_TEXT.slice(9))];
    expect(await scanner.scan(Readable.from([begin, end]))).toEqual({
      status: 'bad',
      signature: expect.stringContaining(SIGNATURE),
    });
  });

  it('the scanner never calls clean what the daemon finds too large', async () => {
    const chunks = Array.from({ length: 64 }, () => new Uint8Array(64 * 1024));
    expect(await clamavScanner(daemon.tcpUrl).scan(Readable.from(chunks))).toMatchObject({ status: 'unknown' });
  });

  describe('the service', () => {
    let running: TestService;
    let objects: string;
    beforeAll(async () => {
      objects = await mkdtemp(join(tmpdir(), 'scan-test-'));
      const scan = { CLAMAV_URL: daemon.tcpUrl, BLOB_SCAN_SCHEDULE: '* * * * * *' };
      running = await startTestService({ ...scan, OBJECT_STORE_URL: `file://${objects}` });
    });
    afterAll(async () => {
      await running?.close();
      await rm(objects, { recursive: true, force: true });
    });

    it('scans by schedule, gives out what is good, strictly too, and refuses what is bad', async () => {
      const { owner, url } = running;
      const [large, good, bad] = [
        await uploadFile(url, owner, new Uint8Array(TOO_LARGE)),
        await uploadFile(url, owner, text('good')),
        await uploadFile(url, owner, text(BAD_TEXT)),
      ];
      const info = (answer: { json: Record<string, unknown> }) =>
        owner.get(`/archivist/v1/${answer.json['identity']}/info`);
      const found = await until(
        () => info(bad),
        ({ json }) => json['scanned_status'] !== 'NOT_SCANNED',
        30_000,
      );
      expect(found.json).toMatchObject({
        scanned_status: 'SCANNED_BAD',
        scanned_bad_reason: expect.stringContaining(SIGNATURE),
        scanned_timestamp: expect.stringMatching(/Z$/),
      });
      expect((await owner.get(`/archivist/v1/${bad.json['identity']}`)).status).toBe(400);
      expect((await info(good)).json).toMatchObject({ scanned_status: 'SCANNED_OK', scanned_bad_reason: '' });
      expect((await owner.get(`/archivist/v1/${good.json['identity']}?strict=true`)).status).toBe(200);
      expect((await info(large)).json).toMatchObject({ scanned_status: 'NOT_SCANNED', scanned_timestamp: '' });
      expect((await owner.get(`/archivist/v1/${large.json['identity']}?strict=true`)).status).toBe(400);
    });

    it('never calls clean what is lost in the object store, and tells the operator to restore it', async () => {
      const { owner, url } = running;
      const { json } = await uploadFile(url, owner, text('lost'));
      const id = String(json['identity']).split('/')[1]!;
      const name = (await readdir(objects, { recursive: true })).find((each) => each.endsWith(id))!;
      await rm(join(objects, name));
      await running.asOwner(
        `UPDATE archivist.blob SET scanned_status = 'NOT_SCANNED', scanned_at = NULL WHERE blob_id = '${id}'`,
      );
      const { database, clock } = running.service.parts;
      const lines: string[] = [];
      const logger = createLogger('error', { destination: { write: (line) => lines.push(line) } });
      const [scanner, objectStore] = [clamavScanner(daemon.tcpUrl), fileObjectStore(objects)];
      expect(await scanBlobs({ database, objectStore, scanner, clock, logger })).toMatchObject({ bad: 0, clean: 0 });
      expect(lines.join()).toContain('the bytes of a blob are missing in the object store: restore them from a backup');
      const info = await owner.get(`/archivist/v1/blobs/${id}/info`);
      expect(info.json['scanned_status']).toBe('NOT_SCANNED');
      await running.asOwner(`DELETE FROM archivist.blob WHERE blob_id = '${id}'`);
    });

    it('ends a run though a blob cannot be scanned, and tries that one again in the next', async () => {
      const { database, clock } = running.service.parts;
      const logger = createLogger('silent');
      const [scanner, objectStore] = [clamavScanner(daemon.tcpUrl), fileObjectStore(objects)];
      const run = () => scanBlobs({ database, objectStore, scanner, clock, logger });
      expect(await run()).toEqual({ clean: 0, bad: 0, unknown: 1 });
      expect(await run()).toEqual({ clean: 0, bad: 0, unknown: 1 });
    });
  });
});

describe('the scanner, whatever is at the other end', () => {
  let server: Server | undefined;
  afterAll(() => server?.close());

  it.each([
    ['INSTREAM size limit exceeded. ERROR\0', 'unknown'],
    ['stream: Heuristics.Limits.Exceeded.MaxFileSize FOUND\0', 'unknown'],
    ['stream: OK and more\0', 'unknown'],
    ['', 'unknown'],
    ['stream: OK\0', 'clean'],
  ])('takes the answer %j as %s', async (reply, status) => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.resume().end(reply);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    expect((await clamavScanner(`tcp://127.0.0.1:${port}`).scan(Readable.from([text('x')]))).status).toBe(status);
    server.close();
  });

  it('fails when nobody is there, and when the content cannot be read', async () => {
    const nobody = clamavScanner(`tcp://127.0.0.1:${await freePort()}`);
    await expect(nobody.scan(Readable.from([text('x')]))).rejects.toThrow('ECONNREFUSED');
    server = createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const broken = new Readable({ read: () => broken.destroy(new Error('the disk')) });
    await expect(clamavScanner(`tcp://127.0.0.1:${port}`).scan(broken)).rejects.toThrow('the disk');
  });
});
