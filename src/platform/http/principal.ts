/** Who makes a request, as the verified token says. */
export interface Principal {
  readonly tenantId: string;
  readonly issuer: string;
  readonly subject: string;
  readonly displayName: string;
  readonly email: string;
  readonly roles: readonly string[];
  /** The custom claims of the token. */
  readonly claims: Readonly<Record<string, string>>;
}

/** Turns an Authorization header into a principal. @throws {ApiError} unauthorized */
export type Authenticate = (authorization: string | undefined) => Promise<Principal>;
