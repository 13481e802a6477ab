import { readFile } from 'node:fs/promises';
import type { Failpoints } from '../ledger/failpoints.js';
import type { Config } from '../platform/config.js';
import { explained } from '../platform/explain-failure.js';
import type { RouteGroup } from '../platform/http/route.js';
import type { Keyring } from '../platform/keys/keyring.js';
import { openRateLimiter } from '../platform/rate-limiter.js';
import { openPayloadHashLog } from '../scitt/payload-hash/open-payload-hash-log.js';
import { payloadHashRoutes } from '../scitt/payload-hash/payload-hash-routes.js';
import { readPinnedIssuers } from '../scitt/payload-hash/pinned-issuers.js';
import type { ScittDeps } from '../scitt/register-statement.js';

/** Opens the payload-hash profile if the operator has pinned issuers; otherwise no part of it exists. */
export async function openPayloadHash(parts: {
  readonly config: Config;
  readonly scitt: ScittDeps;
  readonly keyring: Keyring;
  readonly failpoints: Failpoints;
  readonly halted: (logId: string) => boolean;
  nudge(tenantId: string, logId: string): void;
  readonly closers: (() => Promise<unknown>)[];
}): Promise<readonly RouteGroup[]> {
  const { config, scitt, keyring, failpoints, halted, nudge, closers } = parts;
  const { issuersFile, path, perSecond } = config.payloadHash;
  if (issuersFile === undefined) return [];
  const text = readFile(issuersFile, 'utf8');
  const pinned = await explained(
    'PAYLOAD_HASH_ISSUERS cannot be used',
    text.then((read) => readPinnedIssuers(read, new Date(scitt.clock.now()))),
  );
  const { massifHeight, redisUrl } = config;
  const log = await openPayloadHashLog({ ...scitt, massifHeight }, scitt.privateStatementLog.tenantId);
  const limiter = openRateLimiter({ requestsPerSecond: perSecond, redisUrl, logger: scitt.logger, of: 'address' });
  closers.push(async () => limiter.close());
  const deps = {
    ...scitt,
    keyring,
    failpoints,
    halted,
    log,
    pinned,
    admit: async (address: string) => void (await limiter.admit(address)),
    nudge: ({ tenantId, logId }: typeof log) => nudge(tenantId, logId),
  };
  const title = 'Registration of payload hashes';
  return [{ name: 'v1/payloadhash', title, routes: payloadHashRoutes(deps, path) }];
}
