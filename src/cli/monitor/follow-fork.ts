import type { PublicJwk } from '../../core/cose/public-key.js';
import { judgeFork, type OpenFork, type SeenLog } from '../../core/fork/judge-fork.js';
import { decodeForks, type ReadFork, verifyForkStatement } from '../../core/fork/read-fork-statement.js';
import { nodeVerify } from '../../platform/keys/node-verify.js';
import { fetchFile } from './fetch-file.js';

/** File of the statement of the newest open fork that was followed. */
export const FORK = 'fork.cbor';

/**
 * Fetches the fork statements of a log; empty if it was never forked.
 * @throws {VerificationError} `malformed`, `unsupported`
 * @throws {LogUnreachable}
 */
export async function fetchForks(url: string): Promise<ReadFork[]> {
  const published = await fetchFile(url);
  return published ? decodeForks(published) : [];
}

/**
 * Judges a log that changed its name since it was seen, by its published fork statements.
 * @param keys of the log, to check the statements' signatures; undefined where only its note keys are known, which sign the
 *   checkpoint over the statement
 * @throws {VerificationError} at a fork that is not open, or whose statement is not signed with one of the keys
 */
export async function followFork(
  seen: SeenLog,
  newestName: string,
  forks: readonly ReadFork[],
  keys: readonly PublicJwk[] | undefined,
): Promise<OpenFork> {
  const fork = judgeFork(seen, newestName, forks);
  for (const statement of keys ? [fork.newest, fork.ended] : [])
    await verifyForkStatement(statement, keys!, nodeVerify);
  return fork;
}

/**
 * Says what an open fork means for what was seen.
 * @param compared how many of the leaves that it kept were compared with those that were seen
 */
export function forkText({ newest, kept }: OpenFork, seen: SeenLog, compared = kept): string {
  const lost = seen.leaves - kept;
  const when = new Date(newest.forkedAtMs).toISOString();
  const unknown = compared < kept ? `, and ${kept - compared} of the other ${kept} could not be compared` : '';
  const held =
    lost === 0n
      ? 'it holds all that was seen'
      : `${lost} of the ${seen.leaves} leaves that were seen ${lost === 1n ? 'is' : 'are'} lost${unknown}`;
  return `forked openly at ${when} into ${newest.log}: ${held}. Reason given: ${newest.reason}`;
}
