import { CertificateUnusable } from './certificate-unusable.js';
import {
  boolean,
  type DerElement,
  isBoolean,
  isInteger,
  objectIdentifier,
  octetString,
  readDer,
  sequence,
  setBits,
  smallInteger,
} from './der.js';
import { type GeneralName, readGeneralNames } from './general-name.js';
import { type NameConstraints, readNameConstraints } from './name-constraints.js';

/** Object identifiers of extensions (RFC 5280 section 4.2.1). */
export const ExtensionId = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  policies: '2.5.29.32',
  authorityKeyIdentifier: '2.5.29.35',
  purposes: '2.5.29.37',
} as const;

/**
 * The extensions of a certificate that path validation needs. Every certificate policy is accepted; constraints on
 * policies are unsupported.
 */
export interface CertificateExtensions {
  /** Object identifiers of its critical extensions. */
  readonly critical: ReadonlySet<string>;
  /** Undefined when the extension is absent. */
  readonly basicConstraints: { readonly isAuthority: boolean; readonly pathLength: number | undefined } | undefined;
  /** Bits of the key usage, from the left. */
  readonly keyUsage: ReadonlySet<number> | undefined;
  /** Object identifiers of the extended key usage. */
  readonly purposes: ReadonlySet<string> | undefined;
  readonly alternativeNames: readonly GeneralName[] | undefined;
  readonly nameConstraints: NameConstraints | undefined;
  /** The identity provider that vouched for the holder, as Fulcio writes it: text in UTF-8, without a head of DER. */
  readonly fulcioIssuer: Uint8Array | undefined;
}

interface Extension {
  readonly critical: boolean;
  readonly value: Uint8Array;
}

/** Fulcio's first extension. As a critical one it is not understood, because path validation does not use it. */
const FULCIO_ISSUER = '1.3.6.1.4.1.57264.1.1';
const UNDERSTOOD: ReadonlySet<string> = new Set(Object.values(ExtensionId));

function readExtension(element: DerElement): [string, Extension] {
  const [id, ...rest] = sequence(element);
  const [first, second] = rest;
  const marked = isBoolean(first);
  if (rest.length !== (marked ? 2 : 1)) throw new CertificateUnusable('one of its extensions cannot be read');
  return [objectIdentifier(id), { critical: marked && boolean(first), value: octetString(marked ? second : first) }];
}

function readBasicConstraints(element: DerElement) {
  const members = sequence(element);
  const [first, second] = members;
  const marked = isBoolean(first);
  const length = marked ? second : first;
  if (members.length > (marked ? 1 : 0) + (isInteger(length) ? 1 : 0))
    throw new CertificateUnusable('its basic constraints cannot be read');
  return {
    isAuthority: marked && boolean(first),
    pathLength: length === undefined ? undefined : smallInteger(length),
  };
}

/** Every policy is accepted, so only the form counts: at least one, none twice (RFC 5280 section 4.2.1.4). */
function checkPolicies(element: DerElement): void {
  const policies = sequence(element).map((policy) => {
    const [id, qualifiers, ...more] = sequence(policy);
    if (more.length > 0 || (qualifiers && sequence(qualifiers).length === 0)) throw policiesUnreadable();
    for (const qualifier of qualifiers ? sequence(qualifiers) : []) objectIdentifier(sequence(qualifier)[0]);
    return objectIdentifier(id);
  });
  if (policies.length === 0 || new Set(policies).size < policies.length) throw policiesUnreadable();
}

function policiesUnreadable(): CertificateUnusable {
  return new CertificateUnusable('its policies cannot be read');
}

/**
 * Reads the extensions of a certificate.
 * @param list the content of its extensions member; undefined when it has none
 * @throws {CertificateUnusable} also for a duplicate extension, and for an unsupported critical one
 */
export function readExtensions(list: DerElement | undefined): CertificateExtensions {
  const extensions = new Map<string, Extension>();
  for (const element of list ? sequence(list) : []) {
    const [id, extension] = readExtension(element);
    if (extensions.has(id)) throw new CertificateUnusable('it has one extension twice');
    extensions.set(id, extension);
  }
  const critical = new Set([...extensions].flatMap(([id, extension]) => (extension.critical ? [id] : [])));
  if ([...critical].some((id) => !UNDERSTOOD.has(id)))
    throw new CertificateUnusable('it has a critical extension that is not understood');
  const read = <Value>(id: string, as: (element: DerElement) => Value): Value | undefined => {
    const extension = extensions.get(id);
    return extension && as(readDer(extension.value));
  };
  read(ExtensionId.policies, checkPolicies);
  return {
    critical,
    basicConstraints: read(ExtensionId.basicConstraints, readBasicConstraints),
    keyUsage: read(ExtensionId.keyUsage, setBits),
    purposes: read(ExtensionId.purposes, (element) => new Set(sequence(element).map(objectIdentifier))),
    alternativeNames: read(ExtensionId.alternativeNames, readGeneralNames),
    nameConstraints: read(ExtensionId.nameConstraints, readNameConstraints),
    fulcioIssuer: extensions.get(FULCIO_ISSUER)?.value,
  };
}
