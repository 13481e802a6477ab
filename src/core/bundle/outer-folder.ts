import { type BundleFiles, INDEX_PATH } from './bundle-index.js';
import { isSystemFile } from './system-file.js';

/**
 * Returns the files of a bundle that was zipped with its folder, or whose parent folder was given, by their names in the
 * bundle: those inside the one folder that holds an index and every file but those of operating systems. The latter are
 * then outside, under `../`. Any other files are returned as they are. Their names were judged before
 * (docs/formats/bundle.md).
 */
export function withoutOuterFolder(files: BundleFiles): BundleFiles {
  const names = Object.keys(files);
  const first = names.find((name) => !isSystemFile(name)) ?? '';
  const outer = first.slice(0, first.indexOf('/') + 1);
  if (outer === '' || !Object.hasOwn(files, `${outer}${INDEX_PATH}`)) return files;
  if (!names.every((name) => name.startsWith(outer) || isSystemFile(name))) return files;
  const inside = (name: string) => (name.startsWith(outer) ? name.slice(outer.length) : `../${name}`);
  return Object.fromEntries(Object.entries(files).map(([name, bytes]) => [inside(name), bytes]));
}
