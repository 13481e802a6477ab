import { RELEASED_PAGES } from '../core/bundle/known-pages.js';
import { toHex } from '../core/bytes.js';
import type { PublicJwk } from '../core/cose/public-key.js';
import type { GivenTrust } from '../core/evidence/given-trust.js';
import type { KnownPages } from '../core/evidence/page-evidence.js';
import type { RootTrust } from '../core/evidence/root-trust.js';
import { UsageError } from '../core/evidence/usage-error.js';
import type { IssuerTrust } from '../core/verify/trust.js';
import { nativeSha256 } from '../platform/native-sha256.js';
import { readBundlePage } from '../service/built-pages.js';
import { certificateTime, certificateTrust } from './certificate-trust.js';
import { readKeyFiles } from './key-files.js';
import type { TrustOptions } from './trust-options.js';
import { namedWitnesses } from './witness-options.js';

const TENANCY = /^(?:ten(?:ancies|ant)\/)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @throws {UsageError} for the id of a tenancy, which is a part of its issuer's name and would refuse true evidence */
function requireIssuerNames(issuers: readonly string[] = []): void {
  const issuer = issuers.find((name) => TENANCY.test(name));
  if (issuer !== undefined)
    throw new UsageError(
      `--issuer: ${issuer} is a tenancy, not the name of an issuer, such as did:web:archivist.example:archivist:v1:didweb:<uuid>`,
    );
}

function pin(issuer: string | undefined, subject: string | undefined) {
  return { ...(issuer === undefined ? {} : { issuer }), ...(subject === undefined ? {} : { subject }) };
}

const GIVE_ROOT = '--root <fingerprint>, which the operator gives you by another way than the evidence, or';

/** Reads the keys and certificate authorities that are trusted to sign statements. */
async function issuers(options: TrustOptions, atMs: number, root: RootTrust | undefined): Promise<IssuerTrust> {
  const { issuerKeys, issuer, ca } = options;
  const certificates = ca && (await certificateTrust(ca, atMs));
  const isEnough = (ca ?? root) !== undefined && !issuerKeys;
  const keys = isEnough ? [] : await readKeyFiles(`${GIVE_ROOT} --issuer-keys or --ca`, issuerKeys);
  return { issuerKeys: [...(root?.issuerKeys ?? []), ...keys], certificates, issuer };
}

/** Reads the keys of the logs from files, and from the key manifest that the root key signed. */
async function logKeys(options: TrustOptions, root: RootTrust | undefined): Promise<PublicJwk[]> {
  const given = root && !options.logKeys ? [] : await readKeyFiles(`${GIVE_ROOT} --log-keys`, options.logKeys);
  return [...(root?.logKeys ?? []), ...given];
}

/** The page of this build, where there is one, and those of released versions. */
async function knownPages(): Promise<KnownPages> {
  const own = await readBundlePage();
  const known = new Map(RELEASED_PAGES);
  if (own) known.set(toHex(nativeSha256(own)), 'this version');
  return known;
}

/** Returns what the options say is trusted. Files of keys are read when a check needs them. @throws {UsageError} */
export function givenTrust(options: TrustOptions, root: RootTrust | undefined): GivenTrust {
  requireIssuerNames(options.issuer);
  const atMs = certificateTime(options.at);
  if (options.at !== undefined && !options.ca)
    throw new UsageError('--at needs --ca: it is the time at which certificates must be valid');
  return {
    logKeys: () => logKeys(options, root),
    issuers: () => issuers(options, atMs, root),
    issuer: options.issuer,
    hasIssuers: (options.issuerKeys ?? options.ca ?? root) !== undefined,
    statementLog: pin(options.logIssuer, options.statementLog),
    tenancyLog: pin(options.logIssuer, options.tenancyLog),
    ...namedWitnesses(options),
    witnessedLog: options.witnessedLog,
    statementOnly: options.statementOnly === true,
    knownPages,
    sha256: nativeSha256,
  };
}
