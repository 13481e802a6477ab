import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The licence of every package in what esbuild has written. Packages without a file name theirs. */
export function licences(root, metafile) {
  const folders = Object.keys(metafile.inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [],
  );
  const packages = [...new Set(folders)].sort().map((folder) => {
    const read = (file) => readFileSync(join(root, folder, file), 'utf8');
    const { name, version, license } = JSON.parse(read('package.json'));
    const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e(-mit)?(\.md|\.txt)?$/i.test(each));
    const text = file ? read(file).replace(/\r/g, '').trim() : `Licence: ${license}`;
    return { title: `${name} ${version}`, text };
  });
  return eachGrantOnce(packages).join('\n\n\n');
}

const GRANT = /^Permission is hereby granted/m;

/** Most licences differ only in their copyright lines: these follow one another, with the same grant after the last. */
function eachGrantOnce(packages) {
  const groups = new Map();
  for (const { title, text } of packages) {
    const at = Math.max(0, text.search(GRANT));
    const grant = text.slice(at);
    const words = grant.replace(/[“”]/g, '"').replace(/\s+/g, ' ');
    const group = groups.get(words) ?? { heads: [], grant };
    group.heads.push([title, text.slice(0, at).trim()].filter(Boolean).join('\n\n'));
    groups.set(words, group);
  }
  return [...groups.values()].map(({ heads, grant }) => [...heads, grant].join('\n\n'));
}
