import { utf8 } from '../core/bytes.js';
import { EVIDENCE_ALGORITHMS } from '../core/cose/algorithms.js';
import { MAX_CHAIN } from '../core/cose/x5chain.js';
import { sha256 } from '../core/sha256.js';
import { STATEMENT_LIMITS } from './examine-statement.js';

/** What an Owner configures for the registrations of a tenancy. */
export interface RegistrationSettings {
  /** True if a statement of an unregistered issuer may carry its own signing key. */
  readonly selfAsserted: boolean;
}

/** The default: stock clients sign with a key that they generate and carry it in the statement. */
export const DEFAULT_SETTINGS: RegistrationSettings = { selfAsserted: true };

/** The rules that a statement is registered under, as returned by the API and recorded with each entry. */
export interface RegistrationPolicy {
  /** JSON; equal rules give equal texts. */
  readonly text: string;
  /** SHA-256 of the text. */
  readonly digest: Uint8Array;
  readonly document: Readonly<Record<string, unknown>>;
}

/** @param reserved issuer names that only the service itself may use */
export function registrationPolicy(settings: RegistrationSettings, reserved: readonly string[]): RegistrationPolicy {
  const document = {
    version: 1,
    signature: 'must verify',
    signature_algorithms: EVIDENCE_ALGORITHMS.map(({ name }) => name),
    required_claims: ['iss', 'sub'],
    claims_headers: [15, 13],
    payload: 'must be embedded',
    hash_envelope_headers: { private: [-6800, -6801, -6802, -6804], registered: [258, 259, 260] },
    key_resolution: [
      'x5chain to a registered certificate authority whose holder is named by iss, also as did:x509',
      'kid of a registered issuer',
      ...(settings.selfAsserted ? ['cnf of an issuer that is not registered and no did:x509'] : []),
    ],
    self_asserted: settings.selfAsserted,
    not_judged: ['exp, nbf and iat of the claims', 'which of its two forms an ECDSA signature has'],
    reserved_issuers: reserved,
    limits: {
      bytes: STATEMENT_LIMITS.maxBytes,
      depth: STATEMENT_LIMITS.maxDepth,
      items: STATEMENT_LIMITS.maxItems,
      certificates: MAX_CHAIN,
      definite_lengths: true,
      duplicate_labels: false,
    },
  };
  const text = JSON.stringify(document);
  return { text, digest: sha256(utf8(text)), document };
}
