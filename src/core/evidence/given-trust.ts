import type { PublicJwk } from '../cose/public-key.js';
import type { VerifySignature } from '../cose/signature.js';
import type { Sha256 } from '../sha256.js';
import type { NoteKey } from '../tlog/signed-note.js';
import type { ExpectedLog, IssuerPin, IssuerTrust } from '../verify/trust.js';
import type { KnownPages } from './page-evidence.js';

/** The keys that the caller trusts; read only when a check needs them. */
export interface GivenTrust {
  /** @throws {UsageError} when none were given */
  logKeys(): Promise<readonly PublicJwk[]>;
  /** @throws {UsageError} when none were given */
  issuers(): Promise<IssuerTrust>;
  /** The only issuer whose statements and events count; also where no keys of issuers were given. */
  readonly issuer: IssuerPin | undefined;
  /** Whether the caller gave keys of issuers or certificate authorities. */
  readonly hasIssuers: boolean;
  readonly statementLog: ExpectedLog;
  readonly tenancyLog: ExpectedLog;
  readonly witnesses: readonly NoteKey[];
  /** How many of the witnesses must have cosigned. */
  readonly quorum: number;
  /** Origin of the checkpoints that witnesses cosign. */
  readonly witnessedLog: string | undefined;
  /** A statement is checked without its document. */
  readonly statementOnly: boolean;
  /** The pages of bundles that this program knows; undefined where it cannot judge them. */
  knownPages?(): Promise<KnownPages>;
  /** How signatures of logs and witnesses are checked: with Web Crypto unless told. `issuers` has its own. */
  readonly verifySignature?: VerifySignature | undefined;
  /** A platform's own SHA-256, for files of megabytes. */
  readonly sha256?: Sha256 | undefined;
}
