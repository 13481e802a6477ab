import { fromBase64, toBase64 } from '../core/bytes.js';
import type { ManifestSource } from '../core/evidence/manifest-sources.js';

/** What the page keeps in the reader's browser, and nowhere else. */
interface KeptTrust {
  readonly fingerprint: string;
  readonly issuer: string;
  readonly witnesses: string;
  /** Base64 of the newest key manifest that was found under this fingerprint. */
  readonly manifest: string;
}

const NAME = 'vcon-archivist.verifier';
export const NOTHING_KEPT: KeptTrust = { fingerprint: '', issuer: '', witnesses: '', manifest: '' };

/**
 * Whether the page may keep anything. All pages on a disk share one store in some browsers: the page of forged evidence
 * could write its own fingerprint there, for the verifier to find.
 */
export const mayKeep = (): boolean => location.protocol !== 'file:';

/** Returns what was kept; nothing where nothing is kept. */
export function readKept(): KeptTrust {
  if (!mayKeep()) return NOTHING_KEPT;
  try {
    const read: unknown = JSON.parse(localStorage.getItem(NAME) ?? '{}');
    const of = (name: keyof KeptTrust) => {
      const value = typeof read === 'object' && read !== null ? (read as Record<string, unknown>)[name] : undefined;
      return typeof value === 'string' ? value : '';
    };
    return {
      fingerprint: of('fingerprint'),
      issuer: of('issuer'),
      witnesses: of('witnesses'),
      manifest: of('manifest'),
    };
  } catch {
    return NOTHING_KEPT;
  }
}

/** Keeps these, or forgets everything. A browser that refuses storage keeps nothing. */
export function keep(trust: KeptTrust | undefined): void {
  if (!mayKeep()) return;
  try {
    if (trust) localStorage.setItem(NAME, JSON.stringify(trust));
    else localStorage.removeItem(NAME);
  } catch {
    // Private windows and strict settings: the page works without.
  }
}

/** The kept manifest, under a name for the reader. */
export function keptManifest({ manifest }: KeptTrust, name: string): ManifestSource | undefined {
  if (manifest === '') return undefined;
  try {
    return { name, bytes: fromBase64(manifest) };
  } catch {
    return undefined;
  }
}

export const encodeManifest = ({ bytes }: ManifestSource): string => toBase64(bytes);
