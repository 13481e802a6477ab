import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { UsageError } from '../../core/evidence/usage-error.js';
import { replaceFile } from '../../platform/durable-file.js';
import { foundAt } from '../found-at.js';

/** The folder of all copies, and the one of the objects that they share. */
export const COPIES = 'copies';
export const OBJECTS = 'objects';
const MANIFEST = 'manifest.json';

const file = z.strictObject({ path: z.string(), size: z.number(), sha256: z.string() });
const fork = z.strictObject({
  generation: z.number(),
  seal_number: z.string(),
  leaves: z.string(),
  entry_id: z.string(),
});
const log = z.strictObject({
  log: z.string(),
  name: z.string(),
  structure: z.string(),
  massifLeaves: z.number(),
  leaves: z.number(),
  sealNumber: z.number(),
  publishedNumber: z.number(),
  publishedLeaves: z.number(),
  forks: z.array(fork).readonly().optional(),
});

const manifestSchema = z.strictObject({
  format: z.literal('vcon-archivist-copy/1'),
  madeAt: z.string(),
  program: z.string(),
  deployment: z.string(),
  /** Where the database was: on a server, or embedded. A copy can be restored into either. */
  engine: z.enum(['PostgreSQL', 'embedded PostgreSQL']),
  migrations: z.array(z.string()),
  tables: z.array(
    z.strictObject({
      schema: z.string(),
      name: z.string(),
      columns: z.array(z.strictObject({ name: z.string(), type: z.string() })),
      rows: z.number(),
      file: z.string(),
    }),
  ),
  sequences: z.array(
    z.strictObject({ schema: z.string(), name: z.string(), lastValue: z.string(), isCalled: z.boolean() }),
  ),
  logs: z.array(log),
  lastBlock: z.number(),
  lastManifest: z.number(),
  objects: z.strictObject({ count: z.number(), size: z.number(), missing: z.number() }),
  keys: z.enum(['encrypted', 'not copied']),
  /** Every other file of the copy. */
  files: z.array(file),
});

/** What a copy holds. It is written last: a copy without it is not complete. */
export type CopyManifest = z.infer<typeof manifestSchema>;

/** Writes the manifest and returns its SHA-256 in hex. */
export async function writeCopyManifest(folder: string, manifest: CopyManifest): Promise<string> {
  const bytes = Buffer.from(`${JSON.stringify(manifest, undefined, 1)}\n`);
  await replaceFile(join(folder, MANIFEST), bytes, 0o600);
  return createHash('sha256').update(bytes).digest('hex');
}

/** Reads the manifest of a copy. @throws {UsageError} if it is missing or not of a format that this version reads */
export async function readCopyManifest(folder: string): Promise<CopyManifest> {
  const path = join(folder, MANIFEST);
  const text = await foundAt(path, readFile(path, 'utf8'));
  if (text === undefined) throw new UsageError(`${folder} has no ${MANIFEST}: it is not a complete copy`);
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch {
    throw new UsageError(`${path} is not the manifest of a copy that this version can read`);
  }
}

/** Returns the names of the complete copies in a backup folder, oldest first. @throws {UsageError} if one cannot be read */
export async function completeCopies(folder: string): Promise<string[]> {
  const complete: string[] = [];
  for (const name of (await namesIn(join(folder, COPIES))).filter((each) => !each.startsWith('.')).sort())
    if ((await namesIn(join(folder, COPIES, name))).includes(MANIFEST)) complete.push(name);
  return complete;
}

async function namesIn(folder: string): Promise<string[]> {
  return (await foundAt(folder, readdir(folder))) ?? [];
}
