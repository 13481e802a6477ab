import { fromBase64, toBase64 } from '../bytes.js';
import { VerificationError } from '../errors.js';

/** A state of an RFC 9162 log, as C2SP tlog-checkpoint writes it. */
export interface Checkpoint {
  /** Names the log, for ever. */
  readonly origin: string;
  /** Number of entries. */
  readonly size: bigint;
  readonly root: Uint8Array;
}

/** Returns the text that is signed: origin, size and root, each on a line. */
export function encodeCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`;
}

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', `not a checkpoint: ${reason}`);
}

/** Reads a checkpoint's text; extension lines are skipped. @throws {VerificationError} `malformed` */
export function decodeCheckpoint(text: string): Checkpoint {
  const [origin, size, root] = text.split('\n');
  if (!origin) throw malformed('it has no origin');
  if (!/^(0|[1-9][0-9]{0,18})$/.test(size ?? '')) throw malformed('its size is not a decimal number');
  if (!/^[A-Za-z0-9+/]{43}=$/.test(root ?? '')) throw malformed('its root is not 32 bytes in base64');
  return { origin, size: BigInt(size!), root: fromBase64(root!) };
}
