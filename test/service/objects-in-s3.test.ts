import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { faultsOfAudit } from '../api/faults-of-audit.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { uploadFile } from '../api/upload-file.js';
import { commandLine } from '../support/command-line.js';
import { s3ServerPath } from '../support/prerequisites.js';
import { makeS3Server, type S3Server } from '../support/s3-server.js';

const LARGE = new Uint8Array(9 * 1024 * 1024).map((_, index) => index % 251);
const PATIENCE = { timeout: 60_000, interval: 100 };

describe.skipIf(!s3ServerPath)('a service whose objects are in a bucket', { timeout: 120_000 }, () => {
  let server: S3Server;
  let running: TestService;
  let asset: string;
  beforeAll(async () => {
    server = await makeS3Server();
    running = await startTestService({ MASSIF_HEIGHT: '3', ...(await server.bucket('evidence')) });
    asset = String((await running.owner.post('/archivist/v2/assets', {})).json['identity']);
  });
  afterAll(async () => {
    await running?.close();
    await server?.remove();
  });

  const recorded = async () => {
    const body = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: { note: 'x' } };
    return `/archivist/v2/${(await running.owner.post(`/archivist/v2/${asset}/events`, body)).json['identity']}`;
  };
  const confirmed = (path: string) =>
    vi.waitFor(
      async () => expect((await running.owner.get(path)).json['confirmation_status']).toBe('CONFIRMED'),
      PATIENCE,
    );

  it('confirms events, and serves massifs, large blobs and ranges of them from there', async () => {
    for (const path of await Promise.all(Array.from({ length: 6 }, recorded))) await confirmed(path);
    const uploaded = await uploadFile(running.url, running.owner, LARGE);
    const path = `/archivist/v1/${uploaded.json['identity']}`;
    const options = '?allow_insecure=true';
    expect(Buffer.compare((await running.owner.get(`${path}${options}`)).bytes, LARGE)).toBe(0);
    const part = await running.owner.get(`${path}${options}`, { range: 'bytes=8388607-8388609' });
    expect([part.status, ...part.bytes]).toEqual([206, ...LARGE.subarray(8388607, 8388610)]);
    const massif = `/verifiabledata/merklelogs/v1/mmrs/${uploaded.json['tenantid']}/0/massifs/0000000000000000.log`;
    expect((await running.anonymous.get(massif)).status).toBe(200);
    expect(await readdir(server.folder('evidence'))).toEqual(expect.arrayContaining(['blobs', 'seals']));
  });

  it('stores what comes while the server is away, tells of it, and proves it afterwards', async () => {
    await server.stop();
    const path = await recorded();
    await vi.waitFor(async () => {
      const { json } = await running.anonymous.get('/readyz');
      expect((json['checks'] as Record<string, string>)['object_store']).toMatch(
        /^fails since .*: nothing listens there \(ECONNREFUSED\)$/,
      );
    }, PATIENCE);
    expect((await uploadFile(running.url, running.owner, LARGE)).status).toBe(503);
    expect((await running.owner.get(path)).json['confirmation_status']).not.toBe('CONFIRMED');
    await server.start();
    await confirmed(path);
    expect((await uploadFile(running.url, running.owner, LARGE)).status).toBe(200);
  });

  it('is audited, is backed up to a folder, and can be restored into another bucket', async () => {
    expect(await faultsOfAudit(running)).toEqual([]);
    const folder = await mkdtemp(join(tmpdir(), 'from-s3-'));
    try {
      const identity = await generateX25519Identity();
      await writeFile(join(folder, 'identity'), identity);
      const backup = join(folder, 'backup');
      const args = ['backup', backup, '--recipient', await identityToRecipient(identity)];
      expect(await commandLine(args, running.environment)).toMatchObject({ err: '', exitCode: 0 });
      const bucket = await server.bucket('restored');
      const place = {
        DATA_DIR: join(folder, 'data'),
        DATABASE_URL: '',
        REDIS_URL: '',
        PUBLIC_URL: running.url,
        ...bucket,
      };
      const restoring = ['restore', backup, '--identity', join(folder, 'identity'), '--nothing-published-since'];
      const restored = await commandLine(restoring, place);
      expect(restored).toMatchObject({ err: '', exitCode: 0 });
      expect(restored.out).toContain('The audit found no fault.');
      const seals = await Promise.all(
        ['evidence', 'restored'].map((each) => readdir(join(server.folder(each), 'seals'))),
      );
      expect(seals[1]).toEqual(seals[0]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
