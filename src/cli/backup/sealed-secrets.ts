import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
// The age format (age-encryption.org/v1) by its author: what is encrypted here opens with the `age` program too.
import { Decrypter, Encrypter } from 'age-encryption';
import { unzipSync, zipSync } from 'fflate';
import { ZIP_TIME } from '../../core/bundle/zip-time.js';
import { UsageError } from '../../core/evidence/usage-error.js';
import { createFile, removeUnfinishedFiles } from '../../platform/durable-file.js';
import { credentialsPath } from '../../service/first-credentials.js';
import { foundAt } from '../found-at.js';

const KEYS = 'keys/';
const CREDENTIALS = 'credentials.json';
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/** Where a deployment keeps its secrets. */
interface SecretPlaces {
  readonly keysDir: string;
  readonly dataDir: string;
}

/** Returns the age recipients of a file: one a line; empty lines and lines with # are skipped. */
export function recipientsIn(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** Returns a zip of KEYS_DIR and of the first Owner's credentials. @throws {UsageError} if they cannot be read */
export async function packSecrets(places: SecretPlaces): Promise<Uint8Array> {
  const entries = await readdir(places.keysDir, { withFileTypes: true }).catch(() => {
    throw new UsageError(`KEYS_DIR ${places.keysDir} cannot be read: give --without-keys to copy no keys`);
  });
  const files: Record<string, Uint8Array> = {};
  for (const entry of entries.filter((each) => each.isFile() && NAME.test(each.name)))
    files[`${KEYS}${entry.name}`] = new Uint8Array(await readFile(join(places.keysDir, entry.name)));
  const path = credentialsPath(places.dataDir);
  const credentials = await foundAt(path, readFile(path));
  if (credentials) files[CREDENTIALS] = new Uint8Array(credentials);
  return zipSync(files, { mtime: ZIP_TIME });
}

/** Encrypts bytes to age recipients. @throws {UsageError} for a recipient that is not one */
export async function sealSecrets(packed: Uint8Array, recipients: readonly string[]): Promise<Uint8Array> {
  const encrypter = new Encrypter();
  for (const recipient of recipients)
    try {
      encrypter.addRecipient(recipient);
    } catch {
      throw new UsageError(`--recipient: not an age recipient, which begins with age1: ${recipient.slice(0, 12)}…`);
    }
  return encrypter.encrypt(packed);
}

/**
 * Decrypts what `sealSecrets` made.
 * @returns the files by name @throws {UsageError} if no identity fits
 */
export async function openSecrets(
  sealed: Uint8Array,
  identities: readonly string[],
): Promise<Readonly<Record<string, Uint8Array>>> {
  const decrypter = new Decrypter();
  try {
    for (const identity of identities) decrypter.addIdentity(identity);
    return unzipSync(await decrypter.decrypt(sealed));
  } catch {
    throw new UsageError('--identity: none of these identities decrypts the keys of the copy');
  }
}

/**
 * Writes the decrypted files to their places; files that are there already with the same bytes stay. What a killed run has
 * left is removed: a private key that is taken away later would stay in it.
 * @throws {UsageError} if a file has other bytes: the place belongs to another deployment
 */
export async function placeSecrets(
  files: Readonly<Record<string, Uint8Array>>,
  { keysDir, dataDir }: SecretPlaces,
): Promise<void> {
  await removeUnfinishedFiles(keysDir, new Date());
  for (const [name, bytes] of Object.entries(files)) {
    const inKeys = name.startsWith(KEYS) && NAME.test(name.slice(KEYS.length));
    if (!inKeys && name !== CREDENTIALS)
      throw new UsageError(
        `the keys of the copy contain ${JSON.stringify(name)}, which no backup writes: restore another copy`,
      );
    const path = inKeys ? join(keysDir, name.slice(KEYS.length)) : credentialsPath(dataDir);
    if (await createFile(path, bytes, 0o600)) continue;
    if (!(await readFile(path)).equals(bytes))
      throw new UsageError(`${path} exists with other bytes: restore into an empty place`);
  }
}
