import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createDeployment, ENGINES } from './deployment.js';
import { Follower } from './follower.js';
import { Journal } from './journal.js';

/** Every leaf of the logs is counted here; the soak has more kinds of load and of kills. FAULT_ROUNDS sets both. */
const ROUNDS = { embedded: 6, PostgreSQL: 12 } as const;
const CLIENTS = 3;
const LONGEST_MS = 200;
/** Events whose proofs an audit before the last one fetches again. */
const LOOKED_AT_AGAIN = 20;
const AUDIT_EVERY = 6;

describe.each(ENGINES)('on %s', (engine) => {
  const rounds = Number(process.env['FAULT_ROUNDS'] ?? ROUNDS[engine]);
  it(
    `killed ${rounds} times under a stream of creates: what was acknowledged is found, once, and a create that is sent again makes no second event`,
    async () => {
      const deployment = await createDeployment(engine);
      try {
        let service = await deployment.start();
        const journal = await Journal.begin(service.url);
        const follower = new Follower(deployment, journal);
        for (let round = 1; round <= rounds; round += 1) {
          const streaming = journal.stream(service.url, CLIENTS);
          await wait(Math.random() * LONGEST_MS);
          await service.kill();
          await streaming;
          // Most rounds start at once, while a dead sequencer still has its leases.
          if (round % AUDIT_EVERY === 0) await deployment.expireLeases();
          service = await deployment.start();
          await journal.sendAgain(service.url);
          await follower.everyEventOnce(service.url);
          if (round % AUDIT_EVERY === 0) await follower.audit(service.url, LOOKED_AT_AGAIN);
        }
        await deployment.expireLeases();
        await follower.audit(service.url);
        expect(journal.acknowledged.length).toBe(journal.entries.length);
      } finally {
        await deployment.close();
      }
    },
    // An idle machine needs a tenth of it.
    240_000 + rounds * 30_000,
  );
});
