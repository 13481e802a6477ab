import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blobObjectKey } from '../../src/archivist/blobs/blob.js';
import { beginUpload, endUpload } from '../../src/archivist/blobs/blob-upload-store.js';
import { sweepUploads } from '../../src/archivist/blobs/sweep-uploads.js';
import { fileObjectStore } from '../../src/platform/file-object-store.js';
import { engines, type TestDatabase } from '../support/engines.js';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-11-20T10:00:00Z');
const clock = { now: () => NOW };

describe.each(engines())('what an upload left on %s', (engine) => {
  let opened: TestDatabase;
  let folder: string;
  beforeAll(async () => {
    opened = await engine.open();
    folder = await mkdtemp(join(tmpdir(), 'sweep-test-'));
  });
  afterAll(async () => {
    await opened.close();
    await rm(folder, { recursive: true, force: true });
  });

  const begun = async (ageMs: number) => {
    const address = { tenantId: randomUUID(), blobId: randomUUID() };
    const { tenantId } = address;
    const scope = { read: [tenantId], write: [tenantId] };
    await opened.database.inTransaction(scope, (tx) => beginUpload(tx, address, new Date(NOW - ageMs)));
    await fileObjectStore(folder).putNew(blobObjectKey(address), new Uint8Array([1]));
    return { ...address, scope };
  };
  const sweep = () => sweepUploads({ database: opened.database, objectStore: fileObjectStore(folder), clock });
  const filesOf = ({ tenantId }: { tenantId: string }) => readdir(join(folder, 'blobs', tenantId));

  it('is removed when no request can be at it any more, however many there are, with its unfinished files', async () => {
    const old = await begun(3 * HOUR);
    await writeFile(join(folder, 'blobs', old.tenantId, `.unfinished-${old.blobId}-${randomUUID()}`), 'part');
    for (let count = 0; count < 60; count += 1) await begun(4 * HOUR);
    expect(await sweep()).toBe(61);
    expect(await filesOf(old)).toEqual([]);
    expect(await sweep()).toBe(0);
  });

  it('stays while a request may be at it, and when it became a blob', async () => {
    const young = await begun(HOUR);
    const kept = await begun(3 * HOUR);
    expect(await opened.database.inTransaction(kept.scope, (tx) => endUpload(tx, kept))).toBe(true);
    expect(await sweep()).toBe(0);
    expect(await filesOf(young)).toEqual([young.blobId]);
    expect(await filesOf(kept)).toEqual([kept.blobId]);
  });

  it('never becomes a blob once it is removed', async () => {
    const late = await begun(3 * HOUR);
    await sweep();
    expect(await opened.database.inTransaction(late.scope, (tx) => endUpload(tx, late))).toBe(false);
  });
});
