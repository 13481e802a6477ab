import { z } from 'zod';
import { plainText } from '../../platform/plain-text.js';
import { timestampOf, timestampSchema } from '../../platform/timestamps.js';
import { rolesSchema } from '../access/roles.js';
import { customClaimsSchema } from './custom-claims.js';

/** A machine identity of a tenancy. Its id is the client id of its tokens (docs/design/interface.md#applications). */
export interface Application {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly displayName: string;
  readonly customClaims: Readonly<Record<string, string>>;
  readonly roles: readonly string[];
  readonly createdAt: Date;
}

/** One secret of an application; only its keyed hash is stored. */
export interface Credential {
  readonly credentialId: string;
  readonly secretHmac: Uint8Array;
  readonly validFrom: Date;
  readonly validUntil: Date;
}

/** How long a secret can be used to request tokens: one year. */
export function secretValidity(nowMs: number): { validFrom: Date; validUntil: Date } {
  const validUntil = new Date(nowMs);
  validUntil.setUTCFullYear(validUntil.getUTCFullYear() + 1);
  return { validFrom: new Date(nowMs), validUntil };
}

const displayName = plainText(1024).min(1);

/** Body of `POST /archivist/iam/v1/applications` (docs/design/interface.md#shapes). */
export const createApplicationSchema = z.object({
  display_name: displayName,
  custom_claims: customClaimsSchema.nullish(),
  roles: rolesSchema.nullish(),
});
export type CreateApplicationBody = z.output<typeof createApplicationSchema>;

/**
 * Body of PATCH: what is missing or null stays unchanged; claims and roles are replaced as a whole
 * (docs/design/interface.md#existing-clients).
 */
export const changeApplicationSchema = z.object({
  display_name: displayName.nullish(),
  custom_claims: customClaimsSchema.nullish(),
  roles: rolesSchema.nullish(),
});
export type ChangeApplicationBody = z.output<typeof changeApplicationSchema>;

/** An application in a response. */
export const applicationSchema = z.strictObject({
  identity: z.string(),
  client_id: z.string(),
  display_name: z.string(),
  tenant_id: z.string(),
  credentials: z.array(
    z.strictObject({ secret: z.string(), valid_from: timestampSchema, valid_until: timestampSchema }),
  ),
  custom_claims: z.record(z.string(), z.string()),
  roles: z.array(z.string()),
});

export function applicationIdentity(applicationId: string): string {
  return `applications/${applicationId}`;
}

/** An application in the form of the interface. @param secret of its credential, if it was created in this request */
export function applicationResponse(
  application: Application,
  credentials: readonly Pick<Credential, 'validFrom' | 'validUntil'>[],
  secret = '',
): Record<string, unknown> {
  return {
    identity: applicationIdentity(application.applicationId),
    client_id: application.applicationId,
    display_name: application.displayName,
    tenant_id: `tenant/${application.tenantId}`,
    credentials: credentials.map(({ validFrom, validUntil }) => ({
      secret,
      valid_from: timestampOf(validFrom.getTime()),
      valid_until: timestampOf(validUntil.getTime()),
    })),
    custom_claims: application.customClaims,
    roles: application.roles,
  };
}
