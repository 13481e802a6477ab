import { expect, it } from 'vitest';
import { readGiven, withFiles } from '../../src/console/given-files.js';
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

it('a folder with a bundle’s folder and other files in it is that bundle, and those files by themselves', async () => {
  const more = { 'downloads/10:30.txt': utf8('hello'), 'downloads/more/call.txt': utf8('hello') };
  const pieces = await given('downloads/evidence', more);
  expect(pieces.map(([path, kind]) => `${path}: ${kind}`)).toEqual([
    'downloads/10:30.txt: document',
    'downloads/evidence: bundle',
    'downloads/more/call.txt: document',
  ]);
});

it('files that a system adds to folders are no documents beside evidence', async () => {
  const names = ['.DS_Store', 'Thumbs.db', 'more/desktop.ini', 'call.txt'];
  const files = names.map((name) => ({ path: `case/${name}`, file: new File([name], name) }));
  expect((await readGiven(files)).map(({ path }) => path)).toEqual(['case/call.txt']);
});

it('a folder that does not fit into memory is named before any of it is read', async () => {
  const film = new File([], 'film.mp4');
  Object.defineProperty(film, 'size', { value: 2 ** 29 });
  Object.defineProperty(film, 'arrayBuffer', { value: () => expect.fail('it was read') });
  await expect(readGiven([{ path: 'case/film.mp4', file: film }])).rejects.toThrow('The folder case is too large');
});

it('a file that is given twice is there once, and another file of its name has a number', async () => {
  const texts = ['one', 'one', 'two', ''];
  const files = await Promise.all(texts.map((text) => readGiven([{ path: 'call.txt', file: new File([text], '') }])));
  const all = files.reduce((there, more) => withFiles(there, more), []);
  expect(all.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)])).toEqual([
    ['call.txt', 'one'],
    ['call.txt (2)', 'two'],
    ['call.txt (3)', ''],
  ]);
});
