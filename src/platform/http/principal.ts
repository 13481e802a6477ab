/** The identity that makes a request, from a verified token. */
export interface Principal {
  readonly tenantId: string;
  readonly issuer: string;
  readonly subject: string;
  readonly displayName: string;
  /** Empty unless verified. */
  readonly email: string;
  readonly roles: readonly string[];
  /** What kind of identity it is, for code that depends on it. */
  readonly kind?: 'application' | 'member' | 'certificate';
  /** Groups of the person according to the organisation's identity provider; empty for applications. */
  readonly groups?: readonly string[];
  /** The custom claims of the token. */
  readonly claims: Readonly<Record<string, string>>;
}
