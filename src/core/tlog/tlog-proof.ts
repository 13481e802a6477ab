import { fromBase64, toBase64 } from '../bytes.js';
import { VerificationError } from '../errors.js';

/** A proof that a checkpoint's tree holds an entry, in one text with the checkpoint (C2SP tlog-proof). */
export interface TlogProof {
  readonly index: bigint;
  /** RFC 9162 inclusion path, lowest first. */
  readonly path: readonly Uint8Array[];
  /** The signed note, with whatever cosignatures it has. */
  readonly checkpoint: string;
}

const FIRST_LINE = 'c2sp.org/tlog-proof@v1';
const MOST_HASHES = 63;
const MOST_BYTES = 1 << 20;

export function encodeTlogProof({ index, path, checkpoint }: TlogProof): string {
  return [FIRST_LINE, `index ${index}`, ...path.map(toBase64), '', checkpoint].join('\n');
}

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', `not a tlog-proof: ${reason}`);
}

function hashOf(line: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(line)) throw malformed('a hash is not 32 bytes in base64');
  return fromBase64(line);
}

/** Reads a proof. Extra data proves nothing and is skipped. @throws {VerificationError} `malformed` */
export function decodeTlogProof(text: string): TlogProof {
  if (text.length > MOST_BYTES) throw malformed('too long');
  const end = text.indexOf('\n\n');
  const [first, ...lines] = text.slice(0, Math.max(end, 0)).split('\n');
  if (first !== FIRST_LINE) throw malformed(`it does not begin with ${FIRST_LINE}`);
  if (lines[0]?.startsWith('extra ')) lines.shift();
  const index = /^index (0|[1-9][0-9]{0,18})$/.exec(lines.shift() ?? '')?.[1];
  if (index === undefined) throw malformed('it has no index');
  if (lines.length > MOST_HASHES) throw malformed('its path is too long');
  return { index: BigInt(index), path: lines.map(hashOf), checkpoint: text.slice(end + 2) };
}
