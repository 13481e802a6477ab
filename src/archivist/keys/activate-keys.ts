import { setTimeout as wait } from 'node:timers/promises';
import { isEntryPublished } from '../../ledger/keys-log/keys-log-store.js';
import { countBehind, listKeyManifests } from '../../platform/keys/manifest/key-manifest-store.js';
import { keysLog } from '../deployment.js';
import type { IssueDeps } from './issue-manifest.js';

const LOOK_EVERY_MS = 100;
/** After this many attempts, the operator is told that the key is still pending. */
const LOOKS = 200;

/** What pending keys still wait for; undefined when they may become active. */
export async function pendingReason(deps: IssueDeps): Promise<string | undefined> {
  const log = keysLog(deps.deployment);
  const number = BigInt(deps.manifests.current.manifest.number);
  return deps.database.inTransaction('system', async (tx) => {
    const [row] = await listKeyManifests(tx, log.tenantId, number, 1);
    if (row?.number !== number || !(await isEntryPublished(tx, log, row.entryId)))
      return `key manifest ${number} is not sealed in the keys log yet`;
    const behind = await countBehind(tx, log.tenantId, number);
    const processes = behind === 1 ? '1 running process has' : `${behind} running processes have`;
    return behind === 0 ? undefined : `${processes} not adopted key manifest ${number} yet`;
  });
}

/**
 * Waits until the newest manifest is sealed and every live process has adopted it; only then may its pending keys sign.
 * Resolves with undefined, or after 20 seconds with what they still wait for.
 */
export async function untilKnownEverywhere(deps: IssueDeps): Promise<string | undefined> {
  for (let look = 1; ; look += 1) {
    const reason = await pendingReason(deps);
    if (reason === undefined || look === LOOKS) return reason;
    await wait(LOOK_EVERY_MS);
  }
}
