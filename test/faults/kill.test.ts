import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createDeployment, ENGINES } from './deployment.js';
import { Follower } from './follower.js';
import { Journal } from './journal.js';

const ROUNDS = Number(process.env['FAULT_ROUNDS'] ?? 24);
const CLIENTS = 3;
const LONGEST_MS = 350;
const AUDIT_EVERY = 12;

describe.each(ENGINES)('on %s', (engine) => {
  it(
    `killed ${ROUNDS} times under a stream of creates: what was acknowledged is found, once, and a create that is sent again makes no second event`,
    async () => {
      const deployment = await createDeployment(engine);
      try {
        let service = await deployment.start();
        const journal = await Journal.begin(service.url);
        const follower = new Follower(deployment, journal);
        for (let round = 1; round <= ROUNDS; round += 1) {
          const streaming = journal.stream(service.url, CLIENTS);
          await wait(Math.random() * LONGEST_MS);
          await service.kill();
          await streaming;
          // Most rounds start at once, while a dead sequencer still has its leases.
          if (round % AUDIT_EVERY === 0) await deployment.expireLeases();
          service = await deployment.start();
          await journal.sendAgain(service.url);
          await follower.everyEventOnce(service.url);
          if (round % AUDIT_EVERY === 0) await follower.audit(service.url);
        }
        await deployment.expireLeases();
        await follower.audit(service.url);
        expect(journal.acknowledged.length).toBe(journal.entries.length);
      } finally {
        await deployment.close();
      }
    },
    120_000 + ROUNDS * 10_000,
  );
});
