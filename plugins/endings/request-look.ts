import type { Redis } from 'ioredis';
import type { Logger } from '../../src/platform/logger.js';
import { within } from '../../src/platform/time-limit.js';
import { createPatientWork } from '../capture/patient-work.js';
import { askToLook, isLooking, type ReasonToLook, readLooker } from './look-list.js';

/** If the memory takes longer, it is asked again when the end is recorded. */
const KNOWN_WITHIN_MS = 1_000;
const WARN_EVERY_MS = 600_000;

/** A key of the conserver's Redis that ended. */
interface EndedKey {
  readonly reason: ReasonToLook;
  readonly key: string;
  readonly uuid: string;
}

interface RequestingParts {
  /** The conserver's Redis. */
  readonly commands: Redis;
  readonly stream: string;
  readonly logger: Logger;
  /** Whether a vCon's end could be recorded: its hash is known. The UUID is in lower case. */
  isKnown(uuid: string): Promise<boolean>;
  /** Counts keys that ended, of vCons whose hash is unknown. */
  unknown(): void;
  /** Counts keys that ended while no wheel was looking, or whose look could not be stored. */
  unlooked(): void;
}

/** Asks the wheel to check whether vCons have ended. */
interface LookRequests {
  /** Resolves after the first attempt; others follow while the Redis does not take the request. Never rejects. */
  ask(ended: EndedKey): Promise<void>;
  /** Tries once more what that Redis has not taken. */
  close(): Promise<void>;
}

/** Warnings that nobody checks come every ten minutes at most. */
export function createLookRequests(parts: RequestingParts): LookRequests {
  const { commands, stream, logger } = parts;
  const what = 'a request to check for the end of a vCon is not stored';
  const requests = createPatientWork(what, logger, parts.unlooked);
  let warnedMs = Number.NEGATIVE_INFINITY;

  function sayThatNobodyLooks(why: string): void {
    parts.unlooked();
    const nowMs = performance.now();
    if (nowMs - warnedMs < WARN_EVERY_MS) return;
    warnedMs = nowMs;
    logger.warn(`the ends of vCons are not recorded: ${why}`);
  }

  /** Also while the memory does not answer, or entries of the stream wait, one of which may be the vCon's first. */
  async function mayBeKnown(uuid: string): Promise<boolean> {
    const known = within(KNOWN_WITHIN_MS, parts.isKnown(uuid), 'the memory is slow').catch(() => true);
    return (await known) || (await commands.xlen(stream)) > 0;
  }

  async function request({ reason, key, uuid }: EndedKey): Promise<void> {
    if ((await commands.exists(key)) > 0) return;
    if (!(await mayBeKnown(uuid.toLowerCase()))) return parts.unknown();
    const kept = await askToLook(commands, stream, reason, uuid);
    if (!kept) sayThatNobodyLooks('too many vCons already wait for the wheel to check the storages');
    else if (!isLooking(await readLooker(commands, stream)))
      sayThatNobodyLooks('no conserver imports vcon_archivist_link.watch, which checks the storages');
  }

  return {
    ask: (ended) => requests.keepTrying(`${ended.reason}:${ended.uuid}`, () => request(ended)),
    async close() {
      await requests.close();
      for (let lost = requests.waiting(); lost > 0; lost -= 1) parts.unlooked();
    },
  };
}
