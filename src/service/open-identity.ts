import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { recertifyTenancyKeys } from '../archivist/keys/recertify-tenancy-keys.js';
import type { KeyOperatorDeps } from '../archivist/operator/manage-keys.js';
import type { OperatorDeps } from '../archivist/operator/manage-tenancies.js';
import { serviceDid } from '../core/statement/issuer-did.js';
import { createProviderTokens } from '../iam/identity-provider/verify-provider-token.js';
import type { WriteInviteDeps } from '../iam/invites/write-invite.js';
import { claimedIssuer, createAuthenticateMember } from '../iam/members/authenticate-member.js';
import type { ActTurns } from '../iam/security/act-turns.js';
import type { RefusedActs } from '../iam/security/refused-acts.js';
import { mayUseSession, principalOfSession } from '../iam/sessions/session.js';
import { createFirstLook, type FirstLook } from '../iam/sign-in/first-look.js';
import type { SignInDeps } from '../iam/sign-in/sign-in.js';
import { createSignInStates } from '../iam/sign-in/sign-in-state.js';
import { watchDisabledTenancies } from '../iam/tenancies/disabled-tenancies.js';
import type { TenancyDeps } from '../iam/tenancies/tenancy-self.js';
import { createAuthenticateCertificate } from '../iam/tls-ca-certificates/authenticate-certificate.js';
import { tokenIssuer } from '../iam/token-issuer.js';
import { createAuthenticate } from '../iam/tokens/authenticate.js';
import { createAuthenticateOperator, OPERATOR_TOKEN } from '../iam/tokens/authenticate-operator.js';
import { createCallerStanding } from '../iam/tokens/caller-standing.js';
import { openGuessGuard } from '../iam/tokens/guess-guard.js';
import type { IssueTokenDeps } from '../iam/tokens/issue-token.js';
import { createTellRefusedToken } from '../iam/tokens/tell-refused-token.js';
import type { LogRef } from '../ledger/log.js';
import type { Clock } from '../platform/clock.js';
import { ApiError } from '../platform/errors.js';
import type { Authenticate } from '../platform/http/authenticate.js';
import { isOnlyLocal } from '../platform/http/loopback.js';
import { createOutboundFetch } from '../platform/http/outbound-fetch.js';
import type { Ids } from '../platform/ids.js';
import { createSealedBox } from '../platform/keys/sealed-box.js';
import { secretFiles } from '../platform/keys/secret-files.js';
import type { Logger } from '../platform/logger.js';
import { createSendMail } from '../platform/mail.js';
import { textDigest } from '../platform/node-sha256.js';
import type { OutsideCalls } from '../platform/outside-calls.js';
import type { Database } from '../platform/postgres/database.js';
import { createPageTokens, type PageTokens } from '../platform/postgres/page-token.js';
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

interface IdentityParts extends OpenDeployment, Omit<SharedSettings, 'quotas'> {
  readonly settings: IdentitySettings;
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly outside: OutsideCalls;
  readonly refusedActs: RefusedActs;
  readonly actTurns: ActTurns;
  nudge(log: LogRef): void;
}

/** What the routes for people depend on. */
type PeopleDeps = SignInDeps & TenancyDeps & Omit<WriteInviteDeps, 'invited'> & { readonly pageTokens: PageTokens };

/** Authentication, and what the identity routes depend on. */
export interface Identity {
  readonly authenticate: Authenticate;
  readonly authenticateOperator: (authorization: string | undefined) => void;
  readonly operator: OperatorDeps;
  readonly keys: KeyOperatorDeps;
  readonly people: PeopleDeps;
  readonly tokens: Omit<IssueTokenDeps, 'lines'>;
  close(): Promise<void>;
}

/**
 * Opens every way to authenticate: tokens of applications, tokens of a tenancy's own identity provider, browser
 * sessions and client certificates, all rejected for a disabled tenancy; and the operator's own.
 */
export async function openIdentity(parts: IdentityParts): Promise<Identity> {
  const { settings, database, clock, ids, logger, deployment, keyring, manifests, createTenancyKeys } = parts;
  const { publicUrl, massifHeight, redisUrl } = parts;
  const secret = await secretFiles(settings.keysDir).secret(OPERATOR_TOKEN, (count) => ids.randomBytes(count));
  const disabled = await watchDisabledTenancies({ database, logger });
  const standingOf = createCallerStanding(database);
  const found = (faults: number) => parts.metrics.keyFaults(faults);
  const keys = watchKeys({ database, keyring, manifests, deployment, clock, ids, logger, found });
  const tellRefused = createTellRefusedToken({ logger });
  const refreshKeys = keys.refresh;
  const ofApplication = createAuthenticate({ keyring, clock, publicUrl, standingOf, refreshKeys, tellRefused });
  const firstLook = await offerFirstLook(parts);
  const people = { ...peopleDeps(parts), firstLook };
  const callerOf = createCallerOf(ofApplication, people);
  const guard = openGuessGuard({ redisUrl, logger });
  return {
    async authenticate(request, again) {
      const principal = await callerOf(request, again);
      if (!disabled.has(principal.tenantId)) return principal;
      throw new ApiError('unauthorized', 'The tenancy of this token is disabled.', { 'www-authenticate': 'Bearer' });
    },
    authenticateOperator: createAuthenticateOperator(secret),
    operator: { database, clock, ids, logger, pepper: keyring.pepper, massifHeight, createTenancyKeys, disabled },
    tokens: { database, keyring, clock, ids, publicUrl, logger, guard },
    keys: {
      database,
      clock,
      ids,
      logger,
      keys: parts.keys,
      manifests,
      deployment,
      issuer: serviceDid(publicUrl),
      faults: keys.faults,
      adoptNow: keys.adoptNow,
      recertify: (tx) => recertifyTenancyKeys(tx, parts),
      nudge: parts.nudge,
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
async function offerFirstLook(parts: IdentityParts): Promise<FirstLook | undefined> {
  const { settings, publicUrl } = parts;
  const owner = isOnlyLocal({ ...settings.http, publicUrl }) ? await readCredentials(settings.dataDir) : undefined;
  return owner && createFirstLook(parts, owner.client_id);
}

function peopleDeps(parts: IdentityParts): PeopleDeps {
  const { settings, database, clock, ids, logger, refusedActs, actTurns, metrics, keyring, outside } = parts;
  const { publicUrl, allowPrivate } = parts;
  const { dataDir, mail } = settings;
  const { pepper, pageTokenKey } = keyring;
  const randomBytes = (count: number) => ids.randomBytes(count);
  const outbound = createOutboundFetch({ allowPrivate });
  const send = createSendMail({ ...mail, folder: join(dataDir, 'mail'), ids, logger });
  const recordCall = createIdentityProviderCalls({ outside, logger, failing: metrics.identityProvidersFailing });
  const signInBox = createSealedBox(pepper, 'sign-in', randomBytes);
  return {
    database,
    clock,
    ids,
    logger,
    refusedActs,
    actTurns,
    publicUrl,
    pepper,
    pageTokens: createPageTokens(pageTokenKey),
    allowPrivate,
    fetch: (url, request) => recordCall(String(url), outbound(url, request)),
    clientSecrets: createSealedBox(pepper, 'client secrets of identity providers', randomBytes),
    states: createSignInStates({ box: signInBox, publicUrl, now: () => clock.now() }),
    sendMail: mail.smtpUrl === undefined ? send : (each) => outside.record('mail', send(each)),
  };
}

/** A token's issuer selects how it is verified. Without a token, a browser session or a client certificate is used. */
function createCallerOf(ofApplication: Authenticate, people: PeopleDeps): Authenticate {
  const { publicUrl } = people;
  const ofCertificate = createAuthenticateCertificate(people);
  const ofMember = createAuthenticateMember({ database: people.database, tokens: createProviderTokens(people) });
  const issuerOf = rememberedIssuers();
  return async (request, again) => {
    const { authorization, cookie } = request.headers;
    if (authorization === undefined && mayUseSession(request, publicUrl)) {
      const principal =
        (await people.firstLook?.principalOf(request, again)) ?? (await principalOfSession(people, cookie, again));
      if (principal) return principal;
    }
    const shown = authorization === undefined ? await ofCertificate(request) : undefined;
    if (shown) return shown;
    const token = authorization?.match(/^bearer +(\S+) *$/i)?.[1];
    const issuer = token === undefined ? undefined : issuerOf(token);
    if (token === undefined || issuer === undefined || issuer === tokenIssuer(publicUrl)) return ofApplication(request);
    return ofMember(token, request.headers['archivist-tenancy']?.toString());
  };
}

const REMEMBERED_ISSUERS = 10_000;

/** The issuer that a token claims. Reading it costs more than anything else in the check of a token seen before. */
function rememberedIssuers(): (token: string) => string | undefined {
  const remembered = new LRUCache<string, string>({ max: REMEMBERED_ISSUERS });
  return (token) => {
    const digest = textDigest(token);
    const known = remembered.get(digest);
    if (known !== undefined) return known;
    const issuer = claimedIssuer(token);
    if (issuer !== undefined) remembered.set(digest, issuer);
    return issuer;
  };
}
