import { type UnzipFileInfo, unzipSync } from 'fflate';
import { UsageError } from './evidence-file.js';

/** A transparent statement in a bundle, under the name of its folder. */
export interface BundledStatement {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** What witnesses vouched for, as far as the bundle has it. */
  readonly witness: WitnessFiles | undefined;
}

/** The files of a bundle's witness folder. */
export interface WitnessFiles {
  readonly seal: Uint8Array;
  readonly proof: Uint8Array;
  readonly inclusion: Uint8Array;
}

const STATEMENT = /^(?:(.+)\/)?transparent-statement\.cose$/;
const WITNESS = /^(?:.+\/)?witness\/(?:seal\.sth|seal\.tlog-proof|event-in-seal\.json)$/;
/** A name that another tool would write outside of the folder that it unpacks into. */
const ELSEWHERE = /^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)/;
const MOST_FILES = 20_000;
const MOST_BYTES = 16 * 1024 * 1024;
/** Of all statements together, unpacked: a small zip may say that it is a large one. */
const MOST_BYTES_IN_ALL = 256 * 1024 * 1024;

/** Judges each file that the zip's list names, before anything is unpacked. @throws {UsageError} */
function createFilter(): (file: UnzipFileInfo) => boolean {
  const names = new Set<string>();
  let unpacked = 0;
  return ({ name, size, originalSize }) => {
    // One name for two contents: another tool would check the other one.
    if (names.has(name)) throw new UsageError(`the evidence bundle has ${name} in it twice`);
    if (ELSEWHERE.test(name)) throw new UsageError(`the evidence bundle has a file for elsewhere in it: ${name}`);
    if (names.add(name).size > MOST_FILES) throw new UsageError('the evidence bundle is too large');
    if (!STATEMENT.test(name) && !WITNESS.test(name)) return false;
    // What is not compressed is taken at its stored length, whatever it says to be.
    const bytes = Math.max(size, originalSize);
    unpacked += bytes;
    if (bytes > MOST_BYTES || unpacked > MOST_BYTES_IN_ALL) throw new UsageError('the evidence bundle is too large');
    return true;
  };
}

/**
 * The transparent statements in an evidence bundle, and what witnesses vouched for. Its other files are for tools that are
 * not ours, and the keys in it are never used: they prove nothing about themselves.
 * @throws {UsageError} when it is no bundle, has none, names a file twice or elsewhere, or is larger than any bundle is
 */
export function openBundle(zip: Uint8Array): BundledStatement[] {
  let files: Record<string, Uint8Array>;
  try {
    files = unzipSync(zip, { filter: createFilter() });
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError('the evidence bundle is damaged');
  }
  const statements = Object.entries(files).flatMap(([path, bytes]) => {
    const match = STATEMENT.exec(path);
    const folder = match?.[1] === undefined ? '' : `${match[1]}/`;
    return match ? [{ name: match[1] ?? 'event', bytes, witness: witnessFiles(files, folder) }] : [];
  });
  if (statements.length === 0) throw new UsageError('the evidence bundle has no transparent statement in it');
  return statements.sort((left, right) => (left.name < right.name ? -1 : 1));
}

function witnessFiles(files: Readonly<Record<string, Uint8Array>>, folder: string): WitnessFiles | undefined {
  const [seal, proof, inclusion] = ['seal.sth', 'seal.tlog-proof', 'event-in-seal.json'].map(
    (name) => files[`${folder}witness/${name}`],
  );
  return seal && proof && inclusion && { seal, proof, inclusion };
}
