import type { IncomingMessage } from 'node:http';

/** Who makes a request, as the verified token says. */
export interface Principal {
  readonly tenantId: string;
  readonly issuer: string;
  readonly subject: string;
  readonly displayName: string;
  /** Empty unless it is verified. */
  readonly email: string;
  readonly roles: readonly string[];
  /** What it is an identity of, where something depends on that. */
  readonly kind?: 'application' | 'member' | 'certificate';
  /** Groups that the organisation's identity provider says it is in; none for applications. */
  readonly groups?: readonly string[];
  /** The custom claims of the token. */
  readonly claims: Readonly<Record<string, string>>;
}

/** Finds out who makes a request, by its headers and its connection. @throws {ApiError} unauthorized */
export type Authenticate = (request: IncomingMessage) => Promise<Principal>;
