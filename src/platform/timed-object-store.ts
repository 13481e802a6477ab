import type { ObjectStore } from './object-store.js';
import type { OutsideCalls } from './outside-calls.js';
import { within } from './time-limit.js';

/** A file system over a network can stop to answer, and a file operation has no time limit of its own. */
const ANSWER_WITHIN_MS = 20_000;

/**
 * An object store whose operations end within a time limit and are recorded; lists and streams, which take as long as
 * they are, are not limited. An operation that was given up may still take effect: later writes of the same object wait
 * for it, so that it never replaces newer bytes.
 * @throws {TimeLimitError} from the limited methods
 */
export function timedObjectStore(
  store: ObjectStore,
  outside: Pick<OutsideCalls, 'record'>,
  answerWithinMs = ANSWER_WITHIN_MS,
): ObjectStore {
  const writing = new Map<string, Promise<unknown>>();

  const timed = <Result>(operation: Promise<Result>): Promise<Result> =>
    outside.record('object_store', within(answerWithinMs, operation, 'the object store does not answer in time'));

  async function inTurn<Result>(key: string, write: () => Promise<Result>): Promise<Result> {
    const before = writing.get(key);
    const written = before ? before.then(write, write) : write();
    writing.set(key, written);
    const forget = (): void => {
      if (writing.get(key) === written) writing.delete(key);
    };
    written.then(forget, forget);
    return timed(written);
  }

  return {
    ...store,
    get: (key) => timed(store.get(key)),
    putNew: (key, bytes, staged) => inTurn(key, () => store.putNew(key, bytes, staged)),
    put: (key, bytes, staged) => inTurn(key, () => store.put(key, bytes, staged)),
    stage: (key, bytes) => timed(store.stage(key, bytes)),
    stageCopy: (key, staged) => timed(store.stageCopy(key, staged)),
    open: (key, range) => timed(store.open(key, range)),
    remove: (key) => inTurn(key, () => store.remove(key)),
  };
}
