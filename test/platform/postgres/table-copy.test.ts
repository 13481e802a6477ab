import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, it } from 'vitest';
import { beginRestoring, type OwnerClient, placeState } from '../../../src/platform/postgres/table-copy-store.js';
import { engines } from '../../support/engines.js';
import { serverUrl } from '../../support/prerequisites.js';

it.skipIf(!serverUrl)('a place keeps its mark, wherever the next attempt to fill it is killed', async () => {
  const { environment, remove } = await engines().at(-1)!.place();
  const open = async () => {
    const client = new pg.Client(environment.DATABASE_URL!);
    await client.connect();
    return client;
  };
  const move = randomUUID();
  const looking = await open();
  try {
    await beginRestoring(looking, { move });
    for (let steps = 0, ended = false; !ended; steps += 1) {
      const client = await open();
      let done = 0;
      const killed = (async (text: string) => {
        if (done === steps) throw new Error('killed');
        done += 1;
        return client.query(text);
      }) as OwnerClient['query'];
      ended = await beginRestoring({ query: killed }, { move }).then(
        () => true,
        () => false,
      );
      await client.end();
      expect([steps, await placeState(looking)]).toEqual([steps, { state: 'restoring', move }]);
    }
  } finally {
    await looking.end();
    await remove();
  }
});
