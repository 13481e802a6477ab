import { unzipSync } from 'fflate';
import { UsageError } from './evidence-file.js';

/** A transparent statement in a bundle, under the name of its folder. */
export interface BundledStatement {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const STATEMENT = /^(?:(.+)\/)?transparent-statement\.cose$/;
const MOST_BYTES = 16 * 1024 * 1024;
/** Of all statements together, unpacked: a small zip may say that it is a large one. */
const MOST_BYTES_IN_ALL = 256 * 1024 * 1024;

/**
 * The transparent statements in an evidence bundle. Its other files are for tools that are not ours, and the keys in it
 * are never used: they prove nothing about themselves.
 * @throws {UsageError} when it is no bundle, has none, or is larger than any bundle is
 */
export function openBundle(zip: Uint8Array): BundledStatement[] {
  let files: Record<string, Uint8Array>;
  let unpacked = 0;
  try {
    files = unzipSync(zip, {
      filter: ({ name, originalSize }) => {
        if (!STATEMENT.test(name) || originalSize > MOST_BYTES) return false;
        unpacked += originalSize;
        return unpacked <= MOST_BYTES_IN_ALL;
      },
    });
  } catch {
    throw new UsageError('the evidence bundle is damaged');
  }
  if (unpacked > MOST_BYTES_IN_ALL) throw new UsageError('the evidence bundle is too large');
  const statements = Object.entries(files).map(([name, bytes]) => ({
    name: STATEMENT.exec(name)![1] ?? 'event',
    bytes,
  }));
  if (statements.length === 0) throw new UsageError('the evidence bundle has no transparent statement in it');
  return statements.sort((left, right) => (left.name < right.name ? -1 : 1));
}
