import { expect, it } from 'vitest';
import { readGiven } from '../../src/console/given-files.js';
import { bundleIndex, encodeBundleIndex, INDEX_PATH } from '../../src/core/bundle/bundle-index.js';
import { utf8 } from '../../src/core/bytes.js';

const operation = { number: 1, folder: '0001-created', identity: 'assets/1/events/1' };
const content = { '0001-created/event.json': utf8('{"identity":"assets/1/events/1"}') };
const bundle: Record<string, Uint8Array> = {
  ...content,
  [INDEX_PATH]: encodeBundleIndex(bundleIndex(content, [operation])),
};

/** What is taken out of a dropped folder. */
async function given(folder: string, more: Record<string, Uint8Array> = {}) {
  const files = Object.entries(bundle).map(([name, bytes]) => [`${folder}/${name}`, bytes] as const);
  const all = [...files, ...Object.entries(more)].map(([path, bytes]) => ({ path, file: new File([bytes], path) }));
  const found = await readGiven(all);
  const inside = await Promise.all(found.map(async ({ folder }) => folder?.files().then((each) => Object.keys(each))));
  return found.map(({ path, kind }, at) => [path, kind, inside[at]?.toSorted()]);
}

it('a dropped folder is a bundle, and so is its parent if it has nothing else in it', async () => {
  const names = Object.keys(bundle).toSorted();
  expect(await given('evidence')).toEqual([['evidence', 'bundle', names]]);
  expect(await given('downloads/evidence')).toEqual([['downloads', 'bundle', names]]);
});

it('a folder with a bundle and other files in it is no bundle', async () => {
  const kinds = (await given('downloads/evidence', { 'downloads/call.txt': utf8('hello') })).map(([, kind]) => kind);
  expect(kinds).not.toContain('bundle');
});
