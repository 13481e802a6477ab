import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../durable-file.js';
import { ifThere } from '../../if-there.js';

const MODE = 0o600;
const PREFIX = 'key-manifest-';

/**
 * The newest manifest that this deployment's processes have adopted, in `KEYS_DIR`. It is trusted over the database: it
 * names the root key, so a database cannot name another one, and a number below which no manifest is accepted.
 */
export interface ManifestFile {
  read(): Promise<Uint8Array | undefined>;
  replace(manifest: Uint8Array): Promise<void>;
  /** Whether the folder has such a file of another deployment. */
  ofAnother(): Promise<boolean>;
  /** For messages to the operator. */
  readonly path: string;
}

/** @param deployment uuid of the deployment's own tenancy */
export function manifestFile(keysDir: string, deployment: string): ManifestFile {
  const name = `${PREFIX}${deployment}.cose`;
  const path = join(keysDir, name);
  return {
    path,
    async read() {
      const bytes = await ifThere(readFile(path));
      return bytes && new Uint8Array(bytes);
    },
    replace: (manifest) => replaceFile(path, manifest, MODE),
    async ofAnother() {
      const names = (await ifThere(readdir(keysDir))) ?? [];
      return names.some((each) => each.startsWith(PREFIX) && each !== name);
    },
  };
}
