import type { Feature } from '../../platform/feature.js';
import { type ChainOperatorDeps, chainOperatorRoutes } from './chain-operator-routes.js';
import { type CopyOperatorDeps, copyOperatorRoutes } from './copy-operator-routes.js';
import { keyOperatorRoutes } from './key-operator-routes.js';
import { logOperatorRoutes } from './log-operator-routes.js';
import type { KeyOperatorDeps } from './manage-keys.js';
import type { LogOperatorDeps } from './manage-logs.js';
import type { OperatorDeps } from './manage-tenancies.js';
import { operatorRoutes } from './operator-routes.js';

/** What only the operator of the deployment may do: tenancies, logs, the chain, keys, copies. */
export function openOperator(parts: {
  readonly tenancies: OperatorDeps;
  readonly logs: Omit<LogOperatorDeps, 'keys'> & ChainOperatorDeps;
  readonly keys: KeyOperatorDeps;
  readonly copies: CopyOperatorDeps;
}): Feature {
  return {
    routes: {
      'operator/v1/tenancies': operatorRoutes(parts.tenancies),
      'operator/v1/logs': logOperatorRoutes({ ...parts.logs, keys: parts.keys }),
      'operator/v1/chain': chainOperatorRoutes(parts.logs),
      'operator/v1/keys': keyOperatorRoutes(parts.keys),
      'operator/v1/copies': copyOperatorRoutes(parts.copies),
    },
  };
}
