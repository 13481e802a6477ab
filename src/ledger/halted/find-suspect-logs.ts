import type { LedgerContext } from '../ledger-context.js';
import type { LogRef, LogState } from '../log.js';
import { LogInconsistent } from '../log-inconsistent.js';
import { findLog } from '../log-store.js';
import { checkLastSealObject, checkNoLaterGeneration, lastSealObject } from '../seal-object.js';
import { type LogSeal, publishedSeals } from '../seal-store.js';
import { FIRST_ID, logsAfter } from './halted-log-store.js';

type Context = Pick<LedgerContext, 'database' | 'objectStore'>;

const PAGE = 1_000;
/** Reads of the object store at a time. */
const AT_ONCE = 16;

/**
 * Finds the logs whose last published seal in the database is not the last one in the object store, or that the object
 * store has a later generation of, and that are not halted. Takes no lease: another process that is publishing a seal at this moment looks the same, so that a round must
 * confirm the finding. Costs three reads of the object store for each log.
 * @param among looks only at these, otherwise at all logs
 */
export async function findSuspectLogs(context: Context, among?: readonly LogRef[]): Promise<LogState[]> {
  const suspects: LogState[] = [];
  for await (const page of among ? stateNow(context, among) : pages(context)) {
    const running = page.filter(({ log }) => log.halted === null);
    for (let first = 0; first < running.length; first += AT_ONCE) {
      const some = running.slice(first, first + AT_ONCE);
      const found = await Promise.all(some.map((each) => isSuspect(context, each)));
      suspects.push(...some.filter((_, index) => found[index]).map(({ log }) => log));
    }
  }
  return suspects;
}

async function* pages({ database }: Context): AsyncGenerator<LogSeal[]> {
  for (let after: string | undefined = FIRST_ID; after !== undefined; ) {
    const from: string = after;
    const page = await database.inTransaction('system', async (tx) =>
      publishedSeals(tx, await logsAfter(tx, from, PAGE)),
    );
    yield page;
    after = page.length < PAGE ? undefined : page.at(-1)!.log.logId;
  }
}

async function* stateNow({ database }: Context, among: readonly LogRef[]): AsyncGenerator<LogSeal[]> {
  yield await database.inTransaction('system', async (tx) => {
    const now = await Promise.all(among.map((log) => findLog(tx, log)));
    return publishedSeals(
      tx,
      now.flatMap((log) => log ?? []),
    );
  });
}

async function isSuspect({ objectStore }: Context, { log, seal }: LogSeal): Promise<boolean> {
  try {
    await checkNoLaterGeneration(objectStore, log);
    await checkLastSealObject(lastSealObject(objectStore, log), log, seal);
    return false;
  } catch (error) {
    if (error instanceof LogInconsistent) return true;
    throw error;
  }
}
