import type { PublicJwk } from '../cose/public-key.js';
import type { VerifySignature } from '../cose/signature.js';
import { VerificationError } from '../errors.js';
import type { LogName, ReadLogClaims } from '../receipt/log-claims.js';
import type { Sha256 } from '../sha256.js';

/**
 * Keys that a verifier got from a trusted source, and the functions that check a signature (default Web Crypto) and
 * hash.
 */
export interface LogTrust {
  /** Keys of statement logs, tenancy logs and their seals; a kid picks one of them. */
  readonly logKeys: readonly PublicJwk[];
  readonly verifySignature?: VerifySignature | undefined;
  /** A platform's own SHA-256 where there is one that does not wait, such as node:crypto's. */
  readonly sha256?: Sha256 | undefined;
}

/** Trust in certificate authorities, and how to check a chain: the platform's own library is passed in. */
export interface CertificateTrust {
  /**
   * The key of a chain's first certificate (DER), when the chain leads to an authority that is trusted, holds at that time,
   * and names this issuer.
   * @throws {VerificationError} `issuer_key_not_trusted`, `certificate_invalid`
   */
  keyOfChain(chain: readonly Uint8Array[], issuer: string, atMs: number): PublicJwk;
  /** The time at which a chain has to hold when no log is proven to say when the statement was registered. */
  readonly atMs: number;
}

/** The names of the only accepted issuer. A service that has moved has several. */
export type IssuerPin = string | readonly string[];

/** Returns the names of a pin, for a sentence. */
export const pinText = (pin: IssuerPin): string =>
  [pin]
    .flat()
    .map((name) => `"${name}"`)
    .join(' or ');

/** Trust in who signs statements. */
export interface IssuerTrust {
  readonly issuerKeys: readonly PublicJwk[];
  /** Keys of several issuers may be given: this pins who the statement says to be of. */
  readonly issuer?: IssuerPin | undefined;
  readonly certificates?: CertificateTrust | undefined;
  readonly verifySignature?: VerifySignature | undefined;
}

/** Pins the log itself by the given parts of its name, because one key may sign for several logs. */
export type ExpectedLog = Partial<LogName>;

/** Checks that the log that signed has the expected name. @throws {VerificationError} `log_mismatch` */
export function checkLogName(claims: ReadLogClaims, expected: ExpectedLog | undefined): void {
  if (!expected) return;
  for (const part of ['issuer', 'subject'] as const)
    if (expected[part] !== undefined && expected[part] !== claims[part])
      throw new VerificationError('log_mismatch', `signed by the log "${claims[part]}", not by "${expected[part]}"`);
}
