import type { ObjectStore } from './object-store.js';
import type { OutsideCalls } from './outside-calls.js';
import { within } from './time-limit.js';

type Access = 'read' | 'write';

/** A file system over a network can stop to answer, and a file operation has no time limit of its own. */
const ANSWER_WITHIN_MS = 20_000;

/**
 * An object store whose operations end within a time limit and are recorded; lists and streams, which take as long as
 * they are, are not limited. A store that can only be read counts as failing. An operation that was given up may still
 * take effect: later writes of the same object wait for it, so that it never replaces newer bytes.
 * @throws {TimeLimitError} from the limited methods
 */
export function timedObjectStore(
  store: ObjectStore,
  outside: Pick<OutsideCalls, 'report'>,
  answerWithinMs = ANSWER_WITHIN_MS,
): ObjectStore {
  const writing = new Map<string, Promise<unknown>>();
  /** What failed last: a read says nothing of writes. */
  const failing = new Set<Access>();

  async function timed<Result>(tried: readonly Access[], operation: Promise<Result>): Promise<Result> {
    try {
      const result = await within(answerWithinMs, operation, 'the object store does not answer in time');
      for (const each of tried) failing.delete(each);
      if (failing.size === 0) outside.report('object_store', undefined);
      return result;
    } catch (error) {
      for (const each of tried) failing.add(each);
      outside.report('object_store', error as Error);
      throw error;
    }
  }

  async function inTurn<Result>(key: string, write: () => Promise<Result>): Promise<Result> {
    const before = writing.get(key);
    const written = before ? before.then(write, write) : write();
    writing.set(key, written);
    const forget = (): void => {
      if (writing.get(key) === written) writing.delete(key);
    };
    written.then(forget, forget);
    return timed(['write'], written);
  }

  return {
    ...store,
    get: (key) => timed(['read'], store.get(key)),
    has: (key) => timed(['read'], store.has(key)),
    putNew: (key, bytes, staged) => inTurn(key, () => store.putNew(key, bytes, staged)),
    put: (key, bytes) => inTurn(key, () => store.put(key, bytes)),
    stage: (key, bytes) => timed(['write'], store.stage(key, bytes)),
    open: (key, range) => timed(['read'], store.open(key, range)),
    remove: (key) => inTurn(key, () => store.remove(key)),
    ping: () => timed(['read', 'write'], store.ping()),
  };
}
