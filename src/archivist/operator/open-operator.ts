import type { Clock } from '../../platform/clock.js';
import type { Feature } from '../../platform/feature.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import type { ChainWatch } from '../chain/watch-chain.js';
import { type ChainOperatorDeps, chainOperatorRoutes } from './chain-operator-routes.js';
import { copyOperatorRoutes } from './copy-operator-routes.js';
import { keyOperatorRoutes } from './key-operator-routes.js';
import { logOperatorRoutes } from './log-operator-routes.js';
import type { KeyOperatorDeps } from './manage-keys.js';
import type { LogOperatorDeps } from './manage-logs.js';
import type { OperatorDeps } from './manage-tenancies.js';
import { operatorRoutes } from './operator-routes.js';

type OpenedHere = 'pepper' | 'clock' | 'keys' | 'receiptIssuer' | 'chainForked';

interface OperatorBase
  extends KeyOperatorDeps,
    Omit<OperatorDeps, OpenedHere>,
    Omit<LogOperatorDeps, OpenedHere>,
    Omit<ChainOperatorDeps, OpenedHere> {
  /** Dates what is recorded. */
  readonly rightClock: Clock;
  readonly keyring: Keyring;
  readonly publicUrl: string;
  readonly chain: Pick<ChainWatch, 'refresh'>;
}

/**
 * What only the operator of the deployment may do: tenancies, logs, the chain, keys, copies.
 * @param copyFolder where a copy of the embedded database is put, on the disk of the database
 */
export function openOperator(base: OperatorBase, copyFolder: string): Feature {
  const { rightClock: clock, keyring, publicUrl: receiptIssuer, chain } = base;
  const logs = { ...base, clock, receiptIssuer, keys: base };
  return {
    routes: {
      'operator/v1/tenancies': operatorRoutes({ ...base, pepper: keyring.pepper }),
      'operator/v1/logs': logOperatorRoutes(logs),
      'operator/v1/chain': chainOperatorRoutes({ ...logs, chainForked: chain.refresh }),
      'operator/v1/keys': keyOperatorRoutes(base),
      'operator/v1/copies': copyOperatorRoutes({ ...base, copyFolder }),
    },
  };
}
