import { retryLater } from './errors.js';
import type { ObjectStore } from './object-store.js';
import { PublicFailure } from './public-reason.js';

const RETRY_SECONDS = 10;
const NOT_OURS = 'has nothing of this deployment: its volume is not mounted, or OBJECT_STORE_URL names another place';

/**
 * An object store that is known by a mark, an object that it always has. The folder of a volume that is not mounted, or a
 * wrong bucket, lacks every object: without the mark, a missing object proves nothing, and what is stored would be lost.
 * Objects that were staged are published without a look, because their log looks for a later seal first.
 * @param mark its key; undefined until it is known
 * @throws {ApiError} unavailable, where the mark is missing
 */
export function markedObjectStore(store: ObjectStore, mark: () => string | undefined): ObjectStore {
  async function requireMark(): Promise<undefined> {
    const key = mark();
    if (key === undefined || (await store.has(key))) return undefined;
    const refusal = retryLater(
      'unavailable',
      `The object store ${NOT_OURS}. Try again when the operator has corrected it.`,
      RETRY_SECONDS,
    );
    throw Object.assign(refusal, { cause: new PublicFailure(`it ${NOT_OURS}`) });
  }

  return {
    ...store,
    get: async (key) => (await store.get(key)) ?? requireMark(),
    async has(key) {
      const found = await store.has(key);
      if (!found) await requireMark();
      return found;
    },
    open: async (key, range) => (await store.open(key, range)) ?? requireMark(),
    async putNew(key, bytes, staged) {
      if (staged === undefined) await requireMark();
      return store.putNew(key, bytes, staged);
    },
    async putStream(key, content) {
      await requireMark();
      return store.putStream(key, content);
    },
    async remove(key) {
      // Its caller forgets the object afterwards: in the right place it would stay for ever.
      await requireMark();
      return store.remove(key);
    },
    async ping() {
      await store.ping();
      await requireMark();
    },
  };
}
