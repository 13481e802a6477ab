import { mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { fileObjectStore } from '../../src/platform/file-object-store.js';
import { markedObjectStore } from '../../src/platform/marked-object-store.js';

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
