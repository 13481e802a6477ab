/** A machine identity of a tenancy. Its id is the client id of its tokens (interface: Application). */
export interface Application {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly displayName: string;
  readonly customClaims: Readonly<Record<string, string>>;
  readonly roles: readonly string[];
  readonly createdAt: Date;
}

/** One secret of an application, kept as its keyed hash only. */
export interface Credential {
  readonly credentialId: string;
  readonly secretHmac: Uint8Array;
  readonly validFrom: Date;
  readonly validUntil: Date;
}

/** How long a secret may be used to ask for tokens: one year. */
export const SECRET_LIFETIME_MS = 365 * 24 * 60 * 60 * 1000;
