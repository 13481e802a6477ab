import { fromBase64 } from '../../core/bytes.js';
import { VerificationError } from '../../core/errors.js';
import { MANIFEST_URL } from '../../core/evidence/manifest-sources.js';
import {
  decodeKeyManifests,
  manifestJwks,
  type TrustedKeyManifest,
  verifyKeyManifests,
} from '../../core/keys/verify-key-manifests.js';
import { type NoteKey, NoteKeyType } from '../../core/tlog/signed-note.js';
import { nodeVerify } from '../../platform/keys/node-verify.js';
import { checkNotBefore } from '../seen-manifest.js';
import { fetchFile, LogUnreachable } from './fetch-file.js';
import { type KeptFiles, StateDamaged } from './kept-files.js';
import type { FollowedKeys } from './watched-logs.js';

/** File of the newest manifest that was seen, as the service published it. */
const MANIFEST = 'manifest.cbor';
const REVOKED = ['revoked'];

/** The key manifests of a service, by the root key that vouches for them. */
interface FollowedManifests {
  /** Base of the service. */
  readonly url: string;
  /** Of the root key, 32 bytes. */
  readonly rootThumbprint: Uint8Array;
}

function verified(bytes: Uint8Array, { rootThumbprint }: FollowedManifests): Promise<readonly TrustedKeyManifest[]> {
  return verifyKeyManifests(decodeKeyManifests(bytes), rootThumbprint, nodeVerify);
}

/** The manifest that was seen last, checked again, because disks fail. @throws {StateDamaged} */
async function lastSeen(of: FollowedManifests, kept: KeptFiles): Promise<TrustedKeyManifest | undefined> {
  const bytes = await kept.read(MANIFEST);
  try {
    return bytes && (await verified(bytes, of)).at(-1);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw new StateDamaged(`the saved key manifest does not verify with this root: ${error.message} [${error.code}]`);
  }
}

/**
 * Looks at the key manifest that a service publishes: the root key must vouch for it, and its number must not be lower than
 * one that was seen, nor may it be of another history. Then it is remembered. Resolves with it.
 * @throws {VerificationError} if it is older than one that was seen, a second one of the same number, gone, or not the
 *   root key's
 * @throws {StateDamaged} if the saved manifest is damaged
 * @throws {LogUnreachable} if the service does not answer
 */
export async function followKeyManifest(of: FollowedManifests, kept: KeptFiles): Promise<TrustedKeyManifest> {
  const seen = await lastSeen(of, kept);
  const bytes = await fetchFile(`${of.url}${MANIFEST_URL}`);
  if (!bytes && seen) throw new VerificationError('manifest_older', 'the key manifest is gone: a rollback');
  if (!bytes) throw new LogUnreachable(`${of.url}${MANIFEST_URL} is missing`);
  try {
    const given = await verified(bytes, of);
    if (seen) checkNotBefore(given, seen);
    await kept.write(MANIFEST, bytes);
    return given.at(-1)!;
  } catch (error) {
    // Together with the saved manifest that it contradicts, this file proves what the service did.
    if (error instanceof VerificationError) await kept.alarm(MANIFEST, bytes);
    throw error;
  }
}

/** The keys that a manifest gives to a monitor: of every statement log that it names, and of all seals. */
export function keysOfManifest({ manifest, bytes }: TrustedKeyManifest): FollowedKeys {
  const notes = (states?: readonly string[]): NoteKey[] =>
    manifest.logs.flatMap(({ name }) =>
      manifestJwks(manifest, ['note'], states).map((jwk) => ({
        name,
        type: NoteKeyType.ed25519,
        publicKey: fromBase64((jwk as { readonly x: string }).x),
      })),
    );
  return {
    seals: manifestJwks(manifest, ['seal']),
    revokedSeals: manifestJwks(manifest, ['seal'], REVOKED),
    receipts: manifestJwks(manifest, ['statement_receipt']),
    notes: notes(),
    revokedNotes: notes(REVOKED),
    withEntries: manifest.logs.filter(({ kind }) => kind !== 'private_statement').map(({ name }) => name),
    keysLog: { origin: manifest.subject, index: BigInt(manifest.number - 1), entry: bytes },
  };
}
