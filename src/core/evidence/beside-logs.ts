import { isSystemFile } from '../bundle/system-file.js';
import { type Findings, notCovered } from '../verify/verdict.js';

const SEAL = /(?:^|\/)massifseals\/\d{16}\.sth$/;
/** Writes of an object store that a crash ended. */
const UNFINISHED = /(?:^|\/)\.unfinished-[^/]*$/;

/**
 * Names the files of a replica that are not files of its logs. Nothing checked them. They are unproven, except those whose
 * names say that they are not evidence.
 * @param paths inside the folder; one that ends in `/` is a folder that nothing looked into
 */
export function besideLogs(folder: string, paths: readonly string[]): Partial<Findings>[] {
  return paths.map((path) => {
    const piece = `${folder}/${path}`;
    if (isSystemFile(path) || UNFINISHED.test(path))
      return notCovered(piece, 'explanation', 'it is not evidence: not checked');
    return notCovered(piece, 'unproven', whyUnchecked(path));
  });
}

function whyUnchecked(path: string): string {
  if (SEAL.test(path)) return 'its massif is missing in the replica: not checked';
  if (path.endsWith('/')) return 'it is nested too deeply: nothing in it was checked. Give what is in it by itself';
  return 'a replica has no place for it: not checked. Give it by itself';
}
