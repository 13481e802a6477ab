import { createHash } from 'node:crypto';
import { utf8Text } from '../core/utf8-text.js';
import type { Certificate } from '../platform/x509/certificate.js';
import { CertificateUnusable } from '../platform/x509/certificate-unusable.js';

/** A name of method did:x509, version 0, read. */
interface DidX509 {
  readonly hash: Hash;
  readonly fingerprint: string;
  /** What the signer's certificate must state, in the form of `fact`. */
  readonly facts: readonly string[];
}

const PREFIX = 'did:x509:';
const VERSION = '0';
/** Base64url characters of a digest without padding, by the hash's name. */
const HASHES = { sha256: 43, sha384: 64, sha512: 86 } as const;
type Hash = keyof typeof HASHES;

/** Object identifiers of the attributes with a name of their own (RFC 4514 section 3). */
const LABELS: ReadonlyMap<string, string> = new Map([
  ['2.5.4.3', 'CN'],
  ['2.5.4.7', 'L'],
  ['2.5.4.8', 'ST'],
  ['2.5.4.10', 'O'],
  ['2.5.4.11', 'OU'],
  ['2.5.4.6', 'C'],
  ['2.5.4.9', 'STREET'],
]);
const KEYS = [...LABELS.values()];
const KINDS = { mail: 'email', dns: 'dns', uri: 'uri' } as const;
const NAME_KINDS: readonly string[] = Object.values(KINDS);

const OBJECT_IDENTIFIER = /^\d+(?:\.\d+)*$/;
const ENCODED = /^(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})+$/;
// IA5String is ASCII: readers differ in how they take other bytes.
const ASCII = /^\p{ASCII}*$/u;

/** The policies, each with how its values are read. */
const POLICIES: Readonly<Record<string, (values: readonly string[]) => readonly string[]>> = {
  subject: readSubject,
  san([kind = '', value, ...more]) {
    if (!NAME_KINDS.includes(kind) || value === undefined || more.length > 0)
      throw invalid(`its policy san must be ${NAME_KINDS.join(', ')} with one value`);
    return [fact(`san:${kind}`, decoded(value))];
  },
  eku([identifier = '', ...more]) {
    if (!OBJECT_IDENTIFIER.test(identifier) || more.length > 0)
      throw invalid('its policy eku must have one object identifier, such as 1.3.6.1.5.5.7.3.3');
    return [fact('eku', identifier)];
  },
  'fulcio-issuer'([value = '', ...more]) {
    if (more.length > 0) throw invalid('its policy fulcio-issuer must have one value');
    return [fact('fulcio-issuer', `https://${decoded(value)}`)];
  },
};

/** Returns whether an issuer has the form of a did:x509, which a chain of certificates has to prove. */
export function isDidX509(issuer: string): boolean {
  return issuer.startsWith(PREFIX);
}

/**
 * Checks that a did:x509 names the holder of a path's first certificate (the method's specification, version 0): its
 * fingerprint is of another certificate of the path, and the first certificate states what each policy says, character
 * for character.
 * @param path valid, the signer's certificate first, the trusted authority last
 * @throws {CertificateUnusable} for a form that the specification does not have, too; the message says what to change
 */
export function assertDidX509(issuer: string, path: readonly Certificate[]): void {
  const { hash, fingerprint, facts } = readDidX509(issuer);
  const [signer, ...authorities] = path;
  const fingerprints = authorities.map(({ x509 }) => createHash(hash).update(x509.raw).digest('base64url'));
  if (!fingerprints.includes(fingerprint))
    throw new CertificateUnusable(
      `the fingerprint in the issuer (1) is of no certificate above the signer's: for the topmost authority it would be ${fingerprints.at(-1)}`,
    );
  const stated = statedBy(signer!);
  const missing = facts.find((each) => !stated.has(each));
  if (missing === undefined) return;
  const [about = ''] = missing.split('=', 1);
  throw new CertificateUnusable(
    about.startsWith('subject:') && repeatsAttribute(signer!)
      ? "the signer's certificate repeats an attribute of its subject: such a subject fits no policy subject in the issuer (1), use another policy"
      : `the signer's certificate does not have the value of ${about} in the issuer (1): change the issuer, or sign with a certificate that has it`,
  );
}

function readDidX509(did: string): DidX509 {
  const [head = '', ...policies] = did.slice(PREFIX.length).split('::');
  const [version, hash = '', fingerprint = '', ...more] = head.split(':');
  if (version !== VERSION) throw invalid(`its version must be ${VERSION}`);
  if (!isHash(hash)) throw invalid(`its hash must be one of ${Object.keys(HASHES).join(', ')}`);
  if (fingerprint.length !== HASHES[hash] || !/^[A-Za-z0-9_-]+$/.test(fingerprint))
    throw invalid(`its fingerprint must have ${HASHES[hash]} characters of base64url, without padding`);
  if (more.length > 0 || policies.length === 0)
    throw invalid('after its fingerprint it must have policies, each behind two colons, such as ::subject:O:Acme');
  return { hash, fingerprint, facts: policies.flatMap(readPolicy) };
}

function isHash(name: string): name is Hash {
  return Object.hasOwn(HASHES, name);
}

function readPolicy(policy: string): readonly string[] {
  const [name = '', ...values] = policy.split(':');
  if (!Object.hasOwn(POLICIES, name))
    throw invalid(`each of its policies must be one of ${Object.keys(POLICIES).join(', ')}`);
  if (values.length === 0 || !values.every((value) => ENCODED.test(value)))
    throw invalid(
      `its policy ${name} must have values, in which all but letters, digits, ".", "-" and "_" is percent-encoded`,
    );
  return POLICIES[name]!(values);
}

function readSubject(values: readonly string[]): readonly string[] {
  const keys = values.filter((_, place) => place % 2 === 0);
  if (values.length % 2 !== 0) throw invalid('its policy subject must have a value for each key');
  if (!keys.every((key) => KEYS.includes(key) || (OBJECT_IDENTIFIER.test(key) && !LABELS.has(key))))
    throw invalid(`the keys of its policy subject must be ${KEYS.join(', ')}, or the object identifiers of others`);
  if (new Set(keys).size < keys.length) throw invalid('its policy subject must have each key once');
  return keys.map((key, place) => fact(`subject:${key}`, decoded(values[2 * place + 1]!)));
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw invalid('its percent-encoded bytes must be UTF-8');
  }
}

/** One text for what a policy demands or a certificate states. No `about` has an equals sign. */
function fact(about: string, value: string): string {
  return `${about}=${value}`;
}

function statedBy(signer: Certificate): ReadonlySet<string> {
  const { alternativeNames = [], purposes = [], fulcioIssuer } = signer.extensions;
  const attributes = repeatsAttribute(signer) ? [] : signer.subject.attributes;
  return new Set([
    ...attributes.flatMap(({ type, text }) =>
      text === undefined ? [] : [fact(`subject:${LABELS.get(type) ?? type}`, text)],
    ),
    ...alternativeNames.flatMap((name) =>
      'text' in name && ASCII.test(name.text) ? [fact(`san:${KINDS[name.kind]}`, name.text)] : [],
    ),
    ...[...purposes].map((identifier) => fact('eku', identifier)),
    ...textOf(fulcioIssuer).map((text) => fact('fulcio-issuer', text)),
  ]);
}

function textOf(bytes: Uint8Array | undefined): readonly string[] {
  try {
    return bytes ? [utf8Text(bytes)] : [];
  } catch {
    return [];
  }
}

/** The specification has no form for a subject that repeats an attribute: readers could each see another one. */
function repeatsAttribute({ subject: { attributes } }: Certificate): boolean {
  return new Set(attributes.map(({ type }) => type)).size < attributes.length;
}

function invalid(reason: string): CertificateUnusable {
  return new CertificateUnusable(`the issuer (1) is not a valid did:x509: ${reason}`);
}
