import type { OperatorDeps } from '../archivist/operator/manage-tenancies.js';
import { watchDisabledTenancies } from '../iam/tenancies/disabled-tenancies.js';
import { createAuthenticate } from '../iam/tokens/authenticate.js';
import { createAuthenticateOperator, OPERATOR_TOKEN } from '../iam/tokens/authenticate-operator.js';
import { createCallerStanding } from '../iam/tokens/caller-standing.js';
import { openGuessGuard } from '../iam/tokens/guess-guard.js';
import type { IssueTokenDeps } from '../iam/tokens/issue-token.js';
import type { Clock } from '../platform/clock.js';
import type { Config } from '../platform/config.js';
import { ApiError } from '../platform/errors.js';
import type { Authenticate } from '../platform/http/principal.js';
import type { Ids } from '../platform/ids.js';
import { keyFiles } from '../platform/keys/key-files.js';
import type { Logger } from '../platform/logger.js';
import type { Database } from '../platform/postgres/database.js';
import type { OpenDeployment } from './open-deployment.js';
import { watchKeys } from './watch-keys.js';

/** Who may come in, and what the routes of identity are given. */
export interface Identity {
  readonly authenticate: Authenticate;
  readonly authenticateOperator: (authorization: string | undefined) => void;
  readonly operator: OperatorDeps;
  readonly tokens: IssueTokenDeps;
  close(): void;
}

/** The doors of the service: tokens for principals, none of a disabled tenancy, and the operator's own. */
export async function openIdentity(parts: {
  readonly config: Config;
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly open: OpenDeployment;
}): Promise<Identity> {
  const { config, database, clock, ids, logger, open } = parts;
  const { deployment, keyring, createTenancyKeys } = open;
  const { publicUrl, massifHeight } = config;
  const secret = await keyFiles(config.keysDir).secret(OPERATOR_TOKEN, (count) => ids.randomBytes(count));
  const disabled = await watchDisabledTenancies({ database, logger });
  const standingOf = createCallerStanding(database);
  const keys = watchKeys({ database, keyring, deployment, clock, logger });
  const ofToken = createAuthenticate({ keyring, clock, publicUrl, standingOf, refreshKeys: keys.refresh });
  const guard = openGuessGuard({ redisUrl: config.redisUrl, logger });
  return {
    async authenticate(request) {
      const principal = await ofToken(request);
      if (!disabled.has(principal.tenantId)) return principal;
      throw new ApiError('unauthorized', 'The tenancy of this token is disabled.', { 'www-authenticate': 'Bearer' });
    },
    authenticateOperator: createAuthenticateOperator(secret),
    operator: { database, clock, ids, logger, pepper: keyring.pepper, massifHeight, createTenancyKeys, disabled },
    tokens: { database, keyring, clock, ids, publicUrl, logger, guard },
    close() {
      disabled.close();
      guard.close();
      keys.close();
    },
  };
}
