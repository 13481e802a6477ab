import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The licence of every package in what esbuild has written, each text once. Packages without a file name theirs. */
export function licences(root, metafile) {
  const folders = Object.keys(metafile.inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [],
  );
  const texts = [...new Set(folders)].sort().map((folder) => {
    const read = (file) => readFileSync(join(root, folder, file), 'utf8');
    const { name, version, license } = JSON.parse(read('package.json'));
    const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e(-mit)?(\.md|\.txt)?$/i.test(each));
    const text = file ? read(file).replace(/\r/g, '').trim() : `Licence: ${license}`;
    return `${name} ${version}\n\n${text}`;
  });
  return texts.join('\n\n\n');
}
