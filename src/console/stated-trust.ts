import { readKeyDocument } from '../core/cose/key-document.js';
import type { PublicJwk } from '../core/cose/public-key.js';
import { VerificationError } from '../core/errors.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { FingerprintError, parseRootFingerprint } from '../core/keys/root-fingerprint.js';
import { decodeVkey, type NoteKey, NoteKeyType } from '../core/tlog/signed-note.js';
import { bytesOf } from './given-files.js';
import { TEXTS } from './texts.js';

/** What the reader typed about whom to trust. */
export interface StatedTrust {
  readonly fingerprint: string;
  readonly issuer: string;
  readonly witnesses: string;
  /** Whether the browser keeps it. */
  readonly isKept: boolean;
}

/** What is wrong with it, in sentences for the reader. */
export interface TrustFaults {
  readonly fingerprint?: string | undefined;
  readonly witnesses?: string | undefined;
  readonly keys?: string | undefined;
}

/** Reads the fingerprint; without one, nothing. */
export function readFingerprint(text: string): { readonly root?: Uint8Array; readonly fault?: string } {
  if (text.trim() === '') return {};
  try {
    return { root: parseRootFingerprint(text) };
  } catch (error) {
    if (error instanceof FingerprintError) return { fault: error.message };
    throw error;
  }
}

/** Reads the keys of witnesses; the same key counts once. */
export function readWitnesses(text: string): { readonly witnesses: readonly NoteKey[]; readonly fault?: string } {
  const lines = text.split(/\s+/).filter((line) => line !== '');
  const witnesses = new Map<string, NoteKey>();
  for (const line of lines) {
    try {
      const key = decodeVkey(line);
      if (key.type !== NoteKeyType.cosignature) return { witnesses: [], fault: `${line} ${TEXTS.witnessOfLog}` };
      witnesses.set(key.publicKey.join(), key);
    } catch (error) {
      if (error instanceof VerificationError) return { witnesses: [], fault: error.message };
      throw error;
    }
  }
  return { witnesses: [...witnesses.values()] };
}

/** Reads key files that the reader got from the operator. */
export async function readKeyFiles(
  files: FileList,
): Promise<{ readonly keys: readonly PublicJwk[]; readonly fault?: string }> {
  const keys: PublicJwk[] = [];
  for (const file of files) {
    try {
      keys.push(...readKeyDocument(await bytesOf({ path: file.name, file })));
    } catch (error) {
      if (error instanceof VerificationError) return { keys: [], fault: TEXTS.keysBad(file.name, error.message) };
      if (error instanceof UsageError) return { keys: [], fault: error.message };
      throw error;
    }
  }
  return { keys };
}
