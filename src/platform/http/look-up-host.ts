import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';

/*
 * The system's look-up has two threads for the whole process, and keeps one for ten seconds or longer if a name server
 * does not answer. So an Owner who enters such names could delay the look-ups of all tenancies, and of the database's
 * host. The look-ups here are for names that Owners enter.
 */

/** With one name server that does not answer, the resolver gives up after four seconds; a fetch does after five. */
const ANSWER_MS = 1_000;
const QUESTIONS = 2;

/**
 * Returns the addresses that the name servers have for a host. It uses none of the system's threads, and does not read
 * the hosts file.
 * @param nameServers instead of the machine's
 * @throws what the name servers answered, if they have no address
 */
export async function askNameServers(hostname: string, nameServers?: readonly string[]): Promise<LookupAddress[]> {
  // A new one reads which name servers the machine has now.
  const resolver = new Resolver({ timeout: ANSWER_MS, tries: QUESTIONS });
  if (nameServers) resolver.setServers(nameServers);
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = answers.flatMap((answer, at) =>
    answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: at === 0 ? 4 : 6 })) : [],
  );
  if (addresses.length === 0 && answers[0].status === 'rejected') throw answers[0].reason;
  return addresses;
}

type SystemLookup = (hostname: string, options: LookupOptions, found: Parameters<LookupFunction>[2]) => void;

/**
 * Returns the system's look-up, which also reads the hosts file, for one name at a time. A name that has waited for
 * longer than `waitMs` is not looked up: nobody waits for it any more.
 */
export function createLookupInTurn(waitMs: number, system: SystemLookup = lookup as SystemLookup): LookupFunction {
  let last: Promise<void> = Promise.resolve();
  return (hostname, options, found) => {
    const asked = performance.now();
    last = last.then(
      () =>
        new Promise((done) => {
          if (performance.now() - asked > waitMs) {
            done();
            return found(new Error('the look-up of the host waited too long'), '', 0);
          }
          system(hostname, options, (...answer) => {
            done();
            found(...answer);
          });
        }),
    );
  };
}
