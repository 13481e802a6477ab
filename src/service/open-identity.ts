import { join } from 'node:path';
import { recertifyTenancyKeys } from '../archivist/keys/recertify-tenancy-keys.js';
import type { KeyOperatorDeps } from '../archivist/operator/manage-keys.js';
import { serviceDid } from '../core/statement/issuer-did.js';
import { createAuthenticateCaller } from '../iam/authenticate-caller.js';
import type { WriteInviteDeps } from '../iam/invites/write-invite.js';
import { createFirstLook, type FirstLook } from '../iam/sign-in/first-look.js';
import type { SignInDeps } from '../iam/sign-in/sign-in.js';
import { createSignInStates } from '../iam/sign-in/sign-in-state.js';
import { type DisabledTenancies, watchDisabledTenancies } from '../iam/tenancies/disabled-tenancies.js';
import { createAuthenticate } from '../iam/tokens/authenticate.js';
import { createAuthenticateOperator, OPERATOR_TOKEN } from '../iam/tokens/authenticate-operator.js';
import { createCallerStanding } from '../iam/tokens/caller-standing.js';
import { type GuessGuard, openGuessGuard } from '../iam/tokens/guess-guard.js';
import { createTellRefusedToken } from '../iam/tokens/tell-refused-token.js';
import type { Clock } from '../platform/clock.js';
import type { Authenticate } from '../platform/http/authenticate.js';
import { isOnlyLocal } from '../platform/http/loopback.js';
import { createOutboundFetch } from '../platform/http/outbound-fetch.js';
import type { Ids } from '../platform/ids.js';
import { createSealedBox } from '../platform/keys/sealed-box.js';
import { secretFiles } from '../platform/keys/secret-files.js';
import type { Logger } from '../platform/logger.js';
import { createSendMail } from '../platform/mail.js';
import type { OutsideCalls } from '../platform/outside-calls.js';
import type { Database } from '../platform/postgres/database.js';
import type { Config } from './config/config.js';
import type { HttpConfig } from './config/http-config.js';
import { readCredentials } from './first-credentials.js';
import { createIdentityProviderCalls } from './identity-provider-calls.js';
import type { Metrics } from './metrics.js';
import type { OpenDeployment } from './open-deployment.js';
import type { SharedSettings } from './service-base.js';
import { watchKeys } from './watch-keys.js';

interface IdentitySettings {
  readonly http: Pick<HttpConfig, 'host' | 'trustProxy'>;
  readonly keysDir: string;
  readonly dataDir: string;
  readonly mail: Config['mail'];
}

interface IdentityBase extends OpenDeployment, Pick<SharedSettings, 'publicUrl' | 'redisUrl' | 'allowPrivate'> {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly outside: OutsideCalls;
}

/** What routes for people use beside the base. */
type PeopleParts = Pick<SignInDeps, 'pepper' | 'states' | 'clientSecrets' | 'fetch'> &
  Pick<WriteInviteDeps, 'sendMail'>;

/** Authentication, and what features use of it beside the base. */
export interface Identity {
  readonly authenticate: Authenticate;
  readonly authenticateOperator: (authorization: string | undefined) => void;
  readonly disabled: DisabledTenancies;
  readonly guard: GuessGuard;
  readonly keys: Pick<KeyOperatorDeps, 'issuer' | 'faults' | 'adoptNow' | 'recertify'>;
  readonly people: PeopleParts & Pick<SignInDeps, 'firstLook'>;
  close(): Promise<void>;
}

/** Opens every way to authenticate callers, and the operator's own. */
export async function openIdentity(base: IdentityBase, settings: IdentitySettings): Promise<Identity> {
  const { database, clock, ids, logger, keyring, publicUrl, redisUrl } = base;
  const secret = await secretFiles(settings.keysDir).secret(OPERATOR_TOKEN, (count) => ids.randomBytes(count));
  const disabled = await watchDisabledTenancies({ database, logger });
  const standingOf = createCallerStanding(database);
  const keys = watchKeys({ ...base, found: (faults) => base.metrics.keyFaults(faults) });
  const tellRefused = createTellRefusedToken({ logger });
  const refreshKeys = keys.refresh;
  const authenticateToken = createAuthenticate({ keyring, clock, publicUrl, standingOf, refreshKeys, tellRefused });
  const people = { ...peopleParts(base, settings), firstLook: await offerFirstLook(base, settings) };
  const guard = openGuessGuard({ redisUrl, logger });
  return {
    authenticate: createAuthenticateCaller({ ...base, ...people, authenticateToken, disabled }),
    authenticateOperator: createAuthenticateOperator(secret),
    disabled,
    guard,
    keys: {
      issuer: serviceDid(publicUrl),
      faults: keys.faults,
      adoptNow: keys.adoptNow,
      recertify: (tx) => recertifyTenancyKeys(tx, base),
    },
    people,
    async close() {
      disabled.close();
      guard.close();
      await keys.close();
    },
  };
}

/** A first look is offered where nobody else can reach the service. */
async function offerFirstLook(base: IdentityBase, settings: IdentitySettings): Promise<FirstLook | undefined> {
  const { publicUrl } = base;
  const owner = isOnlyLocal({ ...settings.http, publicUrl }) ? await readCredentials(settings.dataDir) : undefined;
  return owner && createFirstLook(base, owner.client_id);
}

function peopleParts(base: IdentityBase, { dataDir, mail }: IdentitySettings): PeopleParts {
  const { clock, ids, logger, metrics, keyring, outside, publicUrl, allowPrivate } = base;
  const { pepper } = keyring;
  const randomBytes = (count: number) => ids.randomBytes(count);
  const outbound = createOutboundFetch({ allowPrivate });
  const send = createSendMail({ ...mail, folder: join(dataDir, 'mail'), ids, logger });
  const recordCall = createIdentityProviderCalls({ outside, logger, failing: metrics.identityProvidersFailing });
  const signInBox = createSealedBox(pepper, 'sign-in', randomBytes);
  return {
    pepper,
    fetch: (url, request) => recordCall(String(url), outbound(url, request)),
    clientSecrets: createSealedBox(pepper, 'client secrets of identity providers', randomBytes),
    states: createSignInStates({ box: signInBox, publicUrl, now: () => clock.now() }),
    sendMail: mail.smtpUrl === undefined ? send : (each) => outside.record('mail', send(each)),
  };
}
