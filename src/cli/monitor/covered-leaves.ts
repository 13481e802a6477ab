import { utf8 } from '../../core/bytes.js';
import { VerificationError } from '../../core/errors.js';
import { counted } from '../counted.js';
import type { KeptFiles } from './kept-files.js';
import { MOST_AWAITED_MS } from './known-entry.js';

/** The newest state of a tenancy log: its name, with the generation, and its leaves. */
interface NewestState {
  readonly name: string;
  readonly leaves: bigint;
}

/**
 * File of how far registered seals cover a log: `registered <leaves> <name>` if they cover all of it, `awaited <leaves>
 * <name>` if not, with the leaves that it had when that was first seen.
 */
const COVERED = 'covered';

interface Covered extends NewestState {
  readonly state: 'registered' | 'awaited';
}

async function readCovered(kept: KeptFiles): Promise<Covered | undefined> {
  const text = new TextDecoder().decode((await kept.read(COVERED)) ?? new Uint8Array());
  const [, state, leaves, name] = /^(registered|awaited) (\d{1,20}) (\S+)$/.exec(text) ?? [];
  return name === undefined ? undefined : { state: state as Covered['state'], leaves: BigInt(leaves!), name };
}

/**
 * Remembers how far registered seals cover a log, or since when they do not cover what it had.
 * @param registered leaves under the largest seal that was compared with the log now; 0 without one
 * @param seen the state that was seen before: what an earlier version compared is not known, and counts as covered
 */
export async function rememberCovered(
  head: NewestState,
  registered: bigint,
  seen: NewestState | undefined,
  kept: KeptFiles,
): Promise<void> {
  const before = (await readCovered(kept)) ?? (seen && { state: 'registered', ...seen });
  const known = before?.name === head.name ? before : undefined;
  if (known?.state === 'awaited' && registered < known.leaves) return;
  const covered = known && known.leaves > registered ? known.leaves : registered;
  const text = covered < head.leaves ? `awaited ${head.leaves}` : `registered ${covered}`;
  await kept.write(COVERED, utf8(`${text} ${head.name}`));
}

/**
 * Checks that registered seals cover what a log had ten minutes ago. Only valid if every entry that is cosigned was read.
 * @throws {VerificationError} `witness_quorum_missing` if not: what witnesses have cosigned is too old to vouch for this log
 */
export async function checkCovered(kept: KeptFiles, nowMs: number): Promise<void> {
  const covered = await readCovered(kept);
  if (covered?.state !== 'awaited' || nowMs - ((await kept.changedAt(COVERED)) ?? nowMs) <= MOST_AWAITED_MS) return;
  throw new VerificationError(
    'witness_quorum_missing',
    `no seal over its ${counted(covered.leaves, 'leaf', 'leaves')} has been registered and cosigned for more than ten minutes: the cosigned checkpoint is too old, or leaves this log out`,
  );
}
