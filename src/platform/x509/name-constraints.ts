import { CertificateUnusable } from './certificate-unusable.js';
import { contextTag, type DerElement, inside, sequence } from './der.js';
import { isBelow } from './distinguished-name.js';
import { type GeneralName, readGeneralName } from './general-name.js';

/** The names that an authority may certify (RFC 5280 section 4.2.1.10). */
export interface NameConstraints {
  readonly permitted: readonly GeneralName[];
  readonly excluded: readonly GeneralName[];
}

/** Comparisons of one certificate's names with the constraints of one authority above it; OpenSSL has a limit as well. */
const MOST_COMPARISONS = 100_000;
const PERMITTED = 0;
const EXCLUDED = 1;

function readSubtrees(element: DerElement | undefined): readonly GeneralName[] {
  return (element ? inside(element) : []).map((subtree) => {
    const [base, ...distances] = sequence(subtree);
    if (distances.length > 0) throw new CertificateUnusable('its name constraints have distances');
    return readGeneralName(base);
  });
}

/** Reads NameConstraints. @throws {CertificateUnusable} */
export function readNameConstraints(element: DerElement): NameConstraints {
  const members = sequence(element);
  const list = (tag: number) => readSubtrees(members.find((member) => contextTag(member) === tag));
  const constraints = { permitted: list(PERMITTED), excluded: list(EXCLUDED) };
  if (constraints.permitted.length + constraints.excluded.length === 0)
    throw new CertificateUnusable('its name constraints are empty');
  return constraints;
}

/** Labels with dots between them; a certificate may have a name that begins with an asterisk, a constraint with a dot. */
const HOST = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i;
const BASE = /^\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i;
/** Parsers read a host whose last label is a number as an address. */
const ADDRESS = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i;

const DNS_NAME = 'a DNS name';

function incomparable(what: string): CertificateUnusable {
  return new CertificateUnusable(`${what} in the chain cannot be compared with a name constraint`);
}

/** In any other form, such as with a dot at its end, a host has several spellings: an exclusion would miss them. */
function assertHosts(what: string, host: string, base: string): void {
  if (!HOST.test(host)) throw incomparable(what);
  if (!BASE.test(base) && !(base === '' && what === DNS_NAME))
    throw new CertificateUnusable('a name constraint of the chain is no host or domain');
}

/**
 * Whether a host is within a domain: `example.com` includes itself and everything below it, `.example.com` only what is
 * below, and the empty text everything.
 */
function isWithinDomain(host: string, domain: string): boolean {
  assertHosts(DNS_NAME, host, domain);
  const [name, base] = [host.toLowerCase(), domain.toLowerCase()];
  if (base === '' || name === base) return true;
  return name.endsWith(base.startsWith('.') ? base : `.${base}`);
}

/**
 * For mail addresses and URIs a host must match exactly; only a constraint with a leading dot includes what is below
 * it.
 */
function isHost(host: string, base: string): boolean {
  const [name, wanted] = [host.toLowerCase(), base.toLowerCase()];
  return wanted.startsWith('.') ? name.length > wanted.length && name.endsWith(wanted) : name === wanted;
}

/** Up to the at sign; another at sign must be in quotes. */
const MAILBOX = /^(?:"(?:[^"\\]|\\.)*"|[^\s"@]+)@$/;

function isMail(address: string, base: string): boolean {
  const at = address.lastIndexOf('@');
  const baseAt = base.lastIndexOf('@');
  if (!MAILBOX.test(address.slice(0, at + 1))) throw incomparable('a mail address');
  assertHosts('a mail address', address.slice(at + 1), base.slice(baseAt + 1));
  if (baseAt < 0) return isHost(address.slice(at + 1), base);
  // The part before the at sign may be case-sensitive (RFC 5321).
  const sameMailbox = baseAt === 0 || address.slice(0, at) === base.slice(0, baseAt);
  return sameMailbox && isHost(address.slice(at + 1), base.slice(baseAt + 1));
}

/**
 * RFC 5280 refuses what cannot be compared: a URI without a host, with an address, or with a host that parsers read
 * differently.
 */
function hostOfUri(uri: string): string {
  const [, host = ''] = /^[^:]*:\/\/(?:[^/?#@]*@)?([^/?#:]*)/.exec(uri) ?? [];
  if (ADDRESS.test(host)) throw incomparable('a URI');
  return host;
}

function isUri(uri: string, base: string): boolean {
  const host = hostOfUri(uri);
  assertHosts('a URI', host, base);
  return isHost(host, base);
}

function isInNetwork(address: Uint8Array, network: Uint8Array): boolean {
  const width = address.length;
  if (width !== 4 && width !== 16) throw incomparable('an address');
  if (network.length !== 8 && network.length !== 32)
    throw new CertificateUnusable('a name constraint of the chain is no network');
  if (network.length !== 2 * width) return false;
  return address.every(
    (byte, place) => (byte & network[width + place]!) === (network[place]! & network[width + place]!),
  );
}

function matches(name: GeneralName, base: GeneralName): boolean {
  if (name.kind === 'ip' && base.kind === 'ip') return isInNetwork(name.bytes, base.bytes);
  if (name.kind === 'directory' && base.kind === 'directory') return isBelow(name.name, base.name);
  if (name.kind === 'dns' && base.kind === 'dns') return isWithinDomain(name.text, base.text);
  if (name.kind === 'mail' && base.kind === 'mail') return isMail(name.text, base.text);
  if (name.kind === 'uri' && base.kind === 'uri') return isUri(name.text, base.text);
  throw new CertificateUnusable('a name constraint is of a kind that cannot be compared');
}

const isSameKind = (name: GeneralName, base: GeneralName): boolean =>
  name.kind === base.kind && (name.kind !== 'other' || name.tag === (base as typeof name).tag);

/**
 * Checks that every name is within the permitted names of its kind, if there are any, and within no excluded ones.
 * @throws {CertificateUnusable} also for a name that cannot be compared with a constraint of its kind
 */
export function assertNamesAllowed(names: readonly GeneralName[], constraints: NameConstraints): void {
  if (names.length * (constraints.permitted.length + constraints.excluded.length) > MOST_COMPARISONS)
    throw new CertificateUnusable('a certificate of the chain has too many names for the constraints of its authority');
  for (const name of names) {
    const permitted = constraints.permitted.filter((base) => isSameKind(name, base));
    const excluded = constraints.excluded.filter((base) => isSameKind(name, base));
    const isPermitted = permitted.length === 0 || permitted.some((base) => matches(name, base));
    if (!isPermitted || excluded.some((base) => matches(name, base)))
      throw new CertificateUnusable('a certificate of the chain has a name that an authority of it may not give');
  }
}
