import { readFile, stat } from 'node:fs/promises';
import { Header } from '../core/cose/labels.js';
import { decodeSign1 } from '../core/cose/sign1.js';
import { VerificationError } from '../core/errors.js';
import { decodeMassifStart } from '../core/massif/massif-start.js';

/** What a file holds, told from its content; its name says nothing. */
export type EvidenceKind =
  | 'document'
  | 'transparent statement'
  | 'statement'
  | 'receipt'
  | 'seal'
  | 'event'
  | 'event list'
  | 'massif'
  | 'bundle'
  | 'folder';

export interface EvidenceFile {
  readonly path: string;
  readonly kind: EvidenceKind;
  /** Empty for a folder. */
  readonly bytes: Uint8Array;
}

/** What a person has to put right before anything can be checked. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws {UsageError} */
export async function readInput(path: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}`);
  }
}

/** Reads a file, or names a folder. @throws {UsageError} */
export async function readEvidence(path: string): Promise<EvidenceFile> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return { path, kind: 'folder', bytes: new Uint8Array() };
  const bytes = await readInput(path);
  return { path, kind: kindOf(bytes), bytes };
}

const TAGGED_SIGN1 = 0xd2;
const ZIP = [0x50, 0x4b, 0x03, 0x04];

/** What bytes are. Whatever is nothing of ours is a document that evidence may be about. */
export function kindOf(bytes: Uint8Array): EvidenceKind {
  if (bytes[0] === TAGGED_SIGN1) return coseKind(bytes);
  if (ZIP.every((byte, at) => bytes[at] === byte)) return 'bundle';
  if (isMassif(bytes)) return 'massif';
  return jsonKind(bytes);
}

function coseKind(bytes: Uint8Array): EvidenceKind {
  try {
    const { protectedHeader, unprotectedHeader } = decodeSign1(bytes);
    if (protectedHeader.has(Header.verifiableDataStructure)) return 'receipt';
    if (unprotectedHeader.has(Header.peakReceipts)) return 'seal';
    return unprotectedHeader.has(Header.receipts) ? 'transparent statement' : 'statement';
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    // Damaged evidence is refused by the check that it is given to, with the reason.
    return 'transparent statement';
  }
}

function isMassif(bytes: Uint8Array): boolean {
  try {
    return decodeMassifStart(bytes).index >= 0;
  } catch {
    return false;
  }
}

function jsonKind(bytes: Uint8Array): EvidenceKind {
  try {
    const value = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown> | null;
    if (Array.isArray(value?.['events'])) return 'event list';
    const { identity } = value ?? {};
    const isEvent = typeof identity === 'string' && /^((public)?assets\/[^/]+\/)?events\//.test(identity);
    return isEvent ? 'event' : 'document';
  } catch {
    return 'document';
  }
}
