import type { Clock } from '../../platform/clock.js';
import type { Ids } from '../../platform/ids.js';
import type { Tx } from '../../platform/postgres/database.js';
import { type Application, type Credential, secretValidity } from './application.js';
import { insertApplication, insertCredential } from './application-store.js';
import { hashClientSecret, newClientSecret } from './client-secret.js';

/** The input of a new application; id and secret are random if not given (bootstrap gives them). */
interface NewApplication {
  readonly tenantId: string;
  readonly displayName: string;
  readonly roles: readonly string[];
  readonly customClaims?: Readonly<Record<string, string>>;
  readonly clientId?: string;
  readonly clientSecret?: string;
}

interface CreateApplicationDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly pepper: Uint8Array;
}

/** Creates an application with one secret inside the caller's transaction. The secret is returned here and never again. */
export async function createApplication(
  tx: Tx,
  deps: CreateApplicationDeps,
  wanted: NewApplication,
): Promise<{ application: Application; credential: Credential; clientSecret: string }> {
  const application: Application = {
    tenantId: wanted.tenantId,
    applicationId: wanted.clientId ?? deps.ids.uuid(),
    displayName: wanted.displayName,
    customClaims: wanted.customClaims ?? {},
    roles: wanted.roles,
    createdAt: new Date(deps.clock.now()),
  };
  await insertApplication(tx, application);
  return { application, ...(await addSecret(tx, deps, application, wanted.clientSecret)) };
}

/** Adds a secret to an application: the given one, or a random one. */
export async function addSecret(
  tx: Tx,
  deps: CreateApplicationDeps,
  application: Pick<Application, 'tenantId' | 'applicationId'>,
  given?: string,
): Promise<{ credential: Credential; clientSecret: string }> {
  const clientSecret = given ?? newClientSecret((count) => deps.ids.randomBytes(count));
  const credential: Credential = {
    credentialId: deps.ids.uuid(),
    secretHmac: hashClientSecret(deps.pepper, application.applicationId, clientSecret),
    ...secretValidity(deps.clock.now()),
  };
  await insertCredential(tx, application, credential);
  return { credential, clientSecret };
}
