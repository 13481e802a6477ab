import type { Clock } from '../../platform/clock.js';
import type { Ids } from '../../platform/ids.js';
import type { Tx } from '../../platform/postgres/database.js';
import { type Application, SECRET_LIFETIME_MS } from './application.js';
import { insertApplication, insertCredential } from './application-store.js';
import { hashClientSecret, newClientSecret } from './client-secret.js';

/** What a new application is made of; id and secret are drawn when they are not given (bootstrap gives them). */
export interface NewApplication {
  readonly tenantId: string;
  readonly displayName: string;
  readonly roles: readonly string[];
  readonly customClaims?: Readonly<Record<string, string>>;
  readonly clientId?: string;
  readonly clientSecret?: string;
}

export interface CreateApplicationDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly pepper: Uint8Array;
}

/** Creates an application with one secret inside the caller's transaction. The secret is returned here and never again. */
export async function createApplication(
  tx: Tx,
  deps: CreateApplicationDeps,
  wanted: NewApplication,
): Promise<{ application: Application; clientSecret: string }> {
  const now = deps.clock.now();
  const application: Application = {
    tenantId: wanted.tenantId,
    applicationId: wanted.clientId ?? deps.ids.uuid(),
    displayName: wanted.displayName,
    customClaims: wanted.customClaims ?? {},
    roles: wanted.roles,
    createdAt: new Date(now),
  };
  const clientSecret = wanted.clientSecret ?? newClientSecret((count) => deps.ids.randomBytes(count));
  await insertApplication(tx, application);
  await insertCredential(tx, application, {
    credentialId: deps.ids.uuid(),
    secretHmac: hashClientSecret(deps.pepper, application.applicationId, clientSecret),
    validFrom: new Date(now),
    validUntil: new Date(now + SECRET_LIFETIME_MS),
  });
  return { application, clientSecret };
}
