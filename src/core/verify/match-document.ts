import { sha384, sha512 } from '@noble/hashes/sha2.js';
import { toHex } from '../bytes.js';
import { HASHES, HashAlgorithm, type HashRules } from '../cose/algorithms.js';
import { VerificationError } from '../errors.js';
import { sha256 } from '../sha256.js';
import { hashRules } from '../statement/vcon-template.js';
import { inspectVcon } from '../vcon/vcon-form.js';
import { type ConserverForm, type ConserverHash, type VconHashes, vconHashes } from '../vcon/vcon-hash.js';
import type { Claim, Facts } from './claim.js';
import { namedAttachments } from './named-attachments.js';
import { type Findings, failure, notCovered } from './verdict.js';

/** The form in which a document has the digest that the evidence names. */
export type DocumentForm = 'raw' | ConserverForm | 'jcs';

const FORMS: Readonly<Record<DocumentForm, string>> = {
  raw: 'the file as it is',
  upstream: 'the file as the conserver writes what it read from its store',
  stored: 'the file as the conserver writes what a link has written back',
  submitted: 'the file as the conserver writes what was posted to its API',
  'submitted-stored': 'the file as the conserver writes what was posted to its API and written back by a link',
  jcs: 'the canonical form (JCS) of the file; its spelling differs from what was hashed',
};

/** A conserver hashes with SHA-256; a longer digest is one of the file as it is. */
const LONGER_HASHES: Readonly<Record<number, (bytes: Uint8Array) => Uint8Array>> = {
  [HashAlgorithm.sha384]: sha384,
  [HashAlgorithm.sha512]: sha512,
};

/** The digests of a file as it is, in hex, each made once. */
function digestsOf(document: Uint8Array): (alg: HashRules['alg']) => string {
  const made = new Map<number, string>();
  return (alg) => {
    const digest = made.get(alg) ?? toHex((LONGER_HASHES[alg] ?? sha256)(document));
    made.set(alg, digest);
    return digest;
  };
}

/** Returns the name of a form, for a person. */
export function describeForm(form: DocumentForm): string {
  return FORMS[form];
}

/** A document that was found to be the one that evidence is about. */
export interface DocumentMatch {
  readonly form: DocumentForm;
  /** In hex. */
  readonly digest: string;
}

/** The digests that evidence states of the document that it is about. */
export type DocumentDigests = Pick<
  Facts,
  'payload_hash' | 'payload_hash_alg' | 'payload_jcs_sha256' | 'payload_sha256'
>;

function mismatch(raw: string, expected: string, tried: readonly ConserverHash[]): VerificationError {
  const impossible = tried.flatMap(({ form, reason }) => (reason === undefined ? [] : [`${form} (${reason})`]));
  const causes = new Set(tried.map(({ reason }) => reason));
  const [only] = causes;
  const reasons =
    impossible.length === 0
      ? ''
      : causes.size === 1
        ? ` (it has no other form: ${only})`
        : ` (not compared: ${[...new Set(impossible)].join('; ')})`;
  return new VerificationError(
    'payload_hash_mismatch',
    `the file hashes to ${raw}, the evidence is about ${expected}; no other form of the file matches either${reasons}`,
    'payload',
  );
}

/**
 * Returns the form in which a document is the one that evidence is about. A user's copy of a vCon rarely has the bytes
 * that the conserver hashed, so its other forms are compared too. The JCS form is compared only with a JCS digest that
 * is covered like the payload's.
 * @throws {VerificationError} `payload_hash_mismatch`, `unsupported` for an unknown hash, `malformed` if the evidence
 * has no digest
 */
export function matchDocument(expected: DocumentDigests, document: Uint8Array): DocumentMatch {
  return documentMatcher(document).match(expected);
}

function unknownHash(alg: string | undefined): string {
  return alg === undefined
    ? 'the evidence has a payload, but does not say which hash algorithm made it'
    : `the hash algorithm of the payload, ${JSON.stringify(alg)}, is not known`;
}

function otherPayload(own: string, carried: string): VerificationError {
  const why = `the file is not the payload that the statement carries: it hashes to ${own}, the payload to ${carried}`;
  return new VerificationError('payload_hash_mismatch', why, 'payload');
}

/** The same for one document and the digests of many pieces of evidence: its forms are hashed once. */
function documentMatcher(document: Uint8Array) {
  const digestBy = digestsOf(document);
  let hashes: VconHashes | undefined;
  const match = ({
    payload_hash: named,
    payload_hash_alg: alg,
    payload_jcs_sha256: jcs,
    payload_sha256: carried,
  }: DocumentDigests): DocumentMatch => {
    if (named === undefined && carried !== undefined) {
      const own = digestBy(HashAlgorithm.sha256);
      if (own !== carried) throw otherPayload(own, carried);
      return { form: 'raw', digest: own };
    }
    if (named === undefined) throw new VerificationError('malformed', 'the evidence carries no digest of a document');
    const rules = hashRules(alg);
    if (!rules) throw new VerificationError('unsupported', unknownHash(alg));
    const digest = named.toLowerCase();
    const longer = rules.alg in LONGER_HASHES;
    const own = digestBy(rules.alg);
    if (own === digest) return { form: 'raw', digest };
    hashes ??= vconHashes(document);
    const forms = longer ? [] : hashes.conserver;
    const match = forms.find(({ hash }) => hash === digest);
    if (match) return { form: match.form, digest };
    const canonical = jcs?.toLowerCase();
    if (canonical !== undefined && hashes.jcs.hash === canonical) return { form: 'jcs', digest: canonical };
    throw mismatch(own, digest, forms);
  };
  let digests: Set<string | undefined> | undefined;
  /** Whether these can be its digests. */
  const canMatch = ({ payload_hash, payload_sha256, payload_jcs_sha256: jcs }: DocumentDigests): boolean => {
    const named = payload_hash ?? payload_sha256 ?? '';
    hashes ??= vconHashes(document);
    digests ??= new Set([...hashes.conserver, hashes.jcs].map(({ hash }) => hash));
    const rules = Object.values(HASHES).find(({ length }) => 2 * length === named.length);
    if (rules) digests.add(digestBy(rules.alg));
    return [named, jcs].some((each) => each && digests!.has(each.toLowerCase()));
  };
  return { match, canMatch };
}

const digestOf = ({ payload_hash, payload_sha256 }: DocumentDigests) => payload_hash ?? payload_sha256;

/**
 * Returns the claim that a document is the one that proven evidence is about, or a file that this evidence names as
 * attached. Any other document contradicts the evidence. If no claim names a payload, the document is unproven.
 * @param claims what is proven
 */
export function documentFindings(
  claims: readonly Claim[],
  document: Uint8Array,
  piece = 'document',
): Partial<Findings> {
  const named = claims.filter(({ kind, facts }) => kind !== 'document' && digestOf(facts) !== undefined);
  const { match, canMatch } = documentMatcher(document);
  const matches: { readonly of: Claim; readonly match: DocumentMatch }[] = [];
  let failed: VerificationError | undefined;
  for (const of of named) {
    // One that differs says why. To try each would cost an error for each.
    if (failed?.code === 'payload_hash_mismatch' && !canMatch(of.facts)) continue;
    try {
      matches.push({ of, match: match(of.facts) });
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      if (failed?.code !== 'payload_hash_mismatch') failed = error;
    }
  }
  const { uuid, uuidInside } = inspectVcon(document);
  const isOwn = ({ of }: { readonly of: Claim }) => of.facts.vcon?.toLowerCase() === uuid;
  const first = matches.find(isOwn) ?? matches[0];
  if (!first) {
    const attached = attachmentClaim(claims, document, piece);
    if (attached) return { claims: [attached] };
    return failed ? failure(piece, failed) : notCovered(piece, 'unproven', 'nothing proven names its digest');
  }
  const { form, digest } = first.match;
  const { vcon } = first.of.facts;
  const payload_hash_alg = form === 'jcs' ? 'SHA-256' : (hashRules(first.of.facts.payload_hash_alg)?.name ?? 'SHA-256');
  const same = matches.filter((each) => each.match.form === form && each.match.digest === digest);
  const claim: Claim = {
    kind: 'document',
    piece,
    facts: { ...(vcon === undefined ? {} : { vcon }), form, payload_hash: digest, payload_hash_alg },
    by: same.map(({ of }) => ({
      type: 'digest',
      of: of.piece,
      member: form === 'jcs' ? 'payload_jcs_sha256' : of.facts.payload_hash ? 'payload_hash' : 'payload_sha256',
    })),
  };
  const said = isOwn(first) ? uuidInside : uuid;
  return { claims: [claim], ...otherUuid(piece, said, vcon) };
}

/**
 * Returns whether a claim is about a file that an event names as attached, and not about the document that the evidence
 * is about.
 */
export function isAttachment({ by }: Claim): boolean {
  return by.some((proof) => proof.type === 'digest' && proof.member === 'members');
}

/** The claim that a file is one that proven attributes of events name as attached; undefined for any other file. */
function attachmentClaim(claims: readonly Claim[], document: Uint8Array, piece: string): Claim | undefined {
  const naming = claims
    .filter(({ kind }) => kind === 'event')
    .flatMap((of) => namedAttachments(of.facts).map((digest) => ({ of: of.piece, ...digest })));
  const digestBy = digestsOf(document);
  const same = naming.filter(({ digest, alg }) => digestBy(hashRules(alg)!.alg) === digest);
  const [first] = same;
  if (!first) return undefined;
  return {
    kind: 'document',
    piece,
    facts: { form: 'raw', payload_hash: first.digest, payload_hash_alg: first.alg },
    by: [...new Set(same.map(({ of }) => of))].map((of) => ({ type: 'digest', of, member: 'members' })),
  };
}

/** Its bytes are the ones that were hashed; which conversation they are is told in two ways, and neither is proven false. */
function otherUuid(piece: string, uuid: string | undefined, vcon: string | undefined): Partial<Findings> {
  if (uuid === undefined || vcon === undefined) return {};
  const why = `the document calls itself vCon ${uuid}, and the evidence about it names vCon ${vcon}`;
  return notCovered(piece, 'unproven', why, ['uuid']);
}
