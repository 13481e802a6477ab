import { readFile } from 'node:fs/promises';
import type { Failpoints } from '../../ledger/failpoints.js';
import type { HaltedLogs } from '../../ledger/halted/watch-halted-logs.js';
import type { LogRef } from '../../ledger/log.js';
import { explained } from '../../platform/explain-failure.js';
import type { Feature } from '../../platform/feature.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import { openRateLimiter } from '../../platform/rate-limiter.js';
import type { ScittDeps } from '../register-statement.js';
import { openPayloadHashLog } from './open-payload-hash-log.js';
import type { PayloadHashConfig } from './payload-hash-config.js';
import { payloadHashRoutes } from './payload-hash-routes.js';
import { readPinnedIssuers } from './pinned-issuers.js';

interface PayloadHashBase {
  readonly scitt: ScittDeps;
  readonly keyring: Keyring;
  readonly failpoints: Failpoints;
  readonly halted: HaltedLogs;
  readonly massifHeight: number;
  readonly redisUrl: string | undefined;
  nudge(log: LogRef): void;
}

/** Opens the payload-hash profile if the operator has pinned issuers; otherwise no part of it exists. */
export async function openPayloadHash(base: PayloadHashBase, settings: PayloadHashConfig): Promise<Feature> {
  const { scitt, keyring, failpoints, halted, massifHeight, redisUrl, nudge } = base;
  const { issuersFile, path, perSecond } = settings;
  if (issuersFile === undefined) return {};
  const text = readFile(issuersFile, 'utf8');
  const pinned = await explained(
    'PAYLOAD_HASH_ISSUERS cannot be used',
    text.then((read) => readPinnedIssuers(read, new Date(scitt.clock.now()))),
  );
  const log = await openPayloadHashLog({ ...scitt, massifHeight }, scitt.privateStatementLog.tenantId);
  const limiter = openRateLimiter({ requestsPerSecond: perSecond, redisUrl, logger: scitt.logger, of: 'address' });
  const deps = {
    ...scitt,
    keyring,
    failpoints,
    halted: halted.has,
    log,
    pinned,
    admit: async (address: string) => void (await limiter.admit(address)),
    nudge,
  };
  return { routes: { 'v1/payloadhash': payloadHashRoutes(deps, path) }, close: async () => limiter.close() };
}
