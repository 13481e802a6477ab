import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, inject, it } from 'vitest';
import { fileObjectStore } from '../../src/platform/file-object-store.js';
import { markedObjectStore } from '../../src/platform/marked-object-store.js';

it('a folder without the mark gives no answer, not even that an object is missing, and takes nothing', async () => {
  const folder = await mkdtemp(join(inject('runFolder'), 'marked-'));
  await mkdir(join(folder, 'objects'));
  const objects = fileObjectStore(join(folder, 'objects'));
  const store = markedObjectStore(objects, () => 'mark');
  const bytes = new Uint8Array([1]);
  for (const ask of [
    () => store.get('blob'),
    () => store.has('blob'),
    () => store.open('blob'),
    () => store.putNew('blob', bytes),
    () => store.putStream('blob', Readable.from([bytes])),
    () => store.ping(),
  ])
    await expect(ask()).rejects.toThrow('its volume is not mounted, or OBJECT_STORE_URL names another place');
  await objects.put('mark', bytes);
  expect([await store.get('blob'), await store.has('blob'), await store.open('blob')]).toEqual([
    undefined,
    false,
    undefined,
  ]);
  await rm(folder, { recursive: true });
});

it('a removal in a folder without the mark is refused, and done once the right folder is back', async () => {
  const folder = await mkdtemp(join(inject('runFolder'), 'marked-'));
  const [mounted, away] = [join(folder, 'objects'), join(folder, 'away')];
  const store = markedObjectStore(fileObjectStore(mounted), () => 'mark');
  await fileObjectStore(mounted).put('mark', new Uint8Array([1]));
  await store.put('blob', new Uint8Array([2]));
  await rename(mounted, away);
  await expect(store.remove('blob')).rejects.toThrow('The object store has nothing of this deployment');
  await rename(away, mounted);
  await store.remove('blob');
  expect(await store.get('blob')).toBeUndefined();
  await rm(folder, { recursive: true });
});
