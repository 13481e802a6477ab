import { inspectVcon } from '../core/vcon/vcon-form.js';
import { vconHashes } from '../core/vcon/vcon-hash.js';

/** A file of the reader. It stays in this page; only its digests are searched. */
export interface HashedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Digests in hex of every form by which it may be recorded, each once. */
  readonly hashes: readonly string[];
  /** The conversation that it says it is. */
  readonly subject?: string;
}

/** Hashes a file in this browser. */
export async function hashedFile(file: File): Promise<HashedFile> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const { raw, conserver, jcs } = vconHashes(bytes);
  const { uuid, innermostPayloadHash } = inspectVcon(bytes);
  const found = [raw.hash, ...conserver.map(({ hash }) => hash), jcs.hash, innermostPayloadHash];
  return {
    name: file.name,
    bytes,
    hashes: [...new Set(found)].filter((hash) => hash !== undefined),
    ...(uuid === undefined ? {} : { subject: `vcon://${uuid}` }),
  };
}
