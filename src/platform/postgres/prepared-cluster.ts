import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { UnzipFileInfo } from 'fflate';

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));
/** The build's folder, from a built file and from a source. */
const FOLDERS = ['../../prepared', '../../../dist/src/prepared'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/** How a cluster is made and archived, besides its migrations: 3 is without the engine's templates, each file in gzip. */
const FORM = '3';
/** In bytes, of compressed files. */
const TOGETHER = 256 * 1024;
/** Of zlib, in bytes. */
const SMALLEST_CHUNK = 64;

/**
 * Copies the empty, migrated cluster that the build has made into a new folder. False, and no folder, if there is none
 * for exactly this version of the engine and these migrations.
 */
export async function copyPreparedCluster(target: string, folders: readonly string[] = FOLDERS): Promise<boolean> {
  const name = await archiveName();
  const archive = (await Promise.all(folders.map((folder) => read(join(folder, name))))).find(Boolean);
  if (!archive) return false;
  const { unzipSync } = await import('fflate');
  const members: UnzipFileInfo[] = [];
  unzipSync(archive, { filter: (member) => members.push(member) < 0 });
  const isFolder = ({ name: path }: UnzipFileInfo) => path.endsWith('/');
  await mkdir(target, { mode: 0o700 });
  // A folder comes before what is in it.
  for (const { name: path } of members.filter(isFolder)) await mkdir(join(target, path), { mode: 0o700 });
  for (const paths of groupsOf(members.filter((member) => !isFolder(member)))) {
    const files = Object.entries(unzipSync(archive, { filter: ({ name: path }) => paths.has(path) }));
    await Promise.all(
      files.map(([path, bytes]) =>
        writeFile(join(target, path.slice(0, -'.gz'.length)), unpacked(bytes), { mode: 0o600 }),
      ),
    );
  }
  return true;
}

/** A gzip file ends with the length of its contents (RFC 1952), for which room is made once: pieces would be held twice. */
function unpacked(file: Uint8Array): Buffer {
  const length = new DataView(file.buffer, file.byteOffset + file.length - 4).getUint32(0, true);
  return gunzipSync(file, { chunkSize: length + SMALLEST_CHUNK });
}

/**
 * The paths of files that are unpacked together, some megabytes of them. All at once, they left 50 MB of the process's
 * memory behind and took twice as long.
 */
function* groupsOf(files: readonly UnzipFileInfo[]): Generator<ReadonlySet<string>> {
  let paths = new Set<string>();
  let bytes = 0;
  for (const [place, { name: path, originalSize }] of files.entries()) {
    paths.add(path);
    bytes += originalSize;
    if (bytes < TOGETHER && place < files.length - 1) continue;
    yield paths;
    paths = new Set();
    bytes = 0;
  }
}

/**
 * Stores the archive of an empty, migrated cluster for first starts to copy, unless it is already there.
 * @param make creates the cluster and returns it as a zip file
 */
export async function prepareCluster(make: () => Promise<Uint8Array>, folder = FOLDERS[0]!): Promise<void> {
  const path = join(folder, await archiveName());
  if (await read(path)) return;
  const archive = await make();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(`${path}.unfinished`, archive);
  await rename(`${path}.unfinished`, path);
}

/** Changes with the form, the engine's version, and every byte of a migration or of an index that is made beside them. */
async function archiveName(): Promise<string> {
  const hash = createHash('sha256')
    .update(FORM)
    .update(await engineVersion());
  const files = (await readdir(MIGRATIONS, { recursive: true })).filter((file) => file.endsWith('.sql'));
  for (const file of files.sort()) hash.update(await readFile(join(MIGRATIONS, file)));
  return `${hash.digest('hex').slice(0, 32)}.zip`;
}

/** The engine's package does not export its own description, so it is found beside the engine's files. */
async function engineVersion(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const { version } = JSON.parse(await readFile(join(dirname(dirname(entry)), 'package.json'), 'utf8'));
  return String(version);
}

function read(path: string): Promise<Buffer | undefined> {
  return readFile(path).catch(() => undefined);
}
