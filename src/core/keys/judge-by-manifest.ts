import { VerificationError } from '../errors.js';
import { firstName } from '../fork/log-generation.js';
import { isWithinDid, serviceDid } from '../statement/issuer-did.js';
import type { Claim, DigestProof, NamedLog, Proof } from '../verify/claim.js';
import { contradiction, createVerdict, type Findings, missing, notCovered, type Verdict } from '../verify/verdict.js';
import type { KeyManifest } from './key-manifest.js';
import {
  countingProofs,
  isStatementLog,
  isTenancyLog,
  keyOf,
  leafOf,
  leavesBefore,
  refusalOf,
  revocationsAmong,
  type Sizes,
  withCountingProofs,
} from './revoked-proofs.js';

const REPLACED = 'another proof takes the place of one whose key does not count';

const iso = (ms: number): string => new Date(ms).toISOString();

/** The role of the keys that make such a proof. */
function roleOf(proof: Proof): string {
  if (proof.type === 'signature') return 'issuer';
  return proof.type === 'inclusion' && proof.vds === 1 ? 'statement_receipt' : 'seal';
}

/** Whether an issuer is the deployment, or one of its tenancies, in whatever spelling of the same DID. */
function isOwnName({ issuer: own }: KeyManifest, issuer: string | undefined): boolean {
  return issuer !== undefined && isWithinDid(issuer, own);
}

/** Whether a log is the deployment's, by the service that it names or by a name that the manifest lists. */
function isOwnLog({ issuer: own, logs }: KeyManifest, { issuer, subject }: NamedLog): boolean {
  if (subject !== undefined && logs.some(({ name }) => name === firstName(subject))) return true;
  return issuer !== undefined && URL.canParse(issuer) && isWithinDid(serviceDid(issuer), own);
}

/** Whether a proof speaks in the deployment's name. */
function isOwn(manifest: KeyManifest, proof: Proof): boolean {
  if (proof.type === 'signature') return isOwnName(manifest, proof.issuer);
  return 'log' in proof && isOwnLog(manifest, proof.log);
}

/**
 * The finding that a proof is by a key that the manifest lists for something else, or that a key of others has signed in
 * the deployment's name; undefined if none is.
 */
function misuseOf(manifest: KeyManifest, { piece, by }: Claim): Partial<Findings> | undefined {
  for (const proof of by) {
    if (!('key' in proof)) continue;
    const key = keyOf(manifest, proof);
    const role = roleOf(proof);
    if (key ? key.role === role : !isOwn(manifest, proof)) continue;
    const code = role === 'issuer' ? 'issuer_key_not_trusted' : 'log_key_not_trusted';
    const why = key
      ? `signed with the key ${key.keyId}, which the key manifest lists as ${key.role} key, not as ${role} key`
      : 'signed in the name of the deployment itself, with a key that the key manifest does not list';
    return contradiction(piece, new VerificationError(code, why));
  }
  return undefined;
}

/**
 * Why a log state does not count as witnessed; undefined when it does. Witnesses cosign many logs: anybody with one of them
 * could register a seal of another service in it.
 */
function otherLogOf({ logs, number }: KeyManifest, { kind, by }: Claim): string | undefined {
  if (kind !== 'witnessed') return undefined;
  const listed = new Set(logs.map(({ name }) => name));
  const other = by.find((proof) => proof.type === 'witness' && !listed.has(firstName(proof.origin)));
  return other?.type === 'witness'
    ? `the witnesses have cosigned the log "${other.origin}", which key manifest ${number} does not list`
    : undefined;
}

/** A document stays only where a claim stays that states its digest. */
function withoutUnfounded(claims: readonly Claim[]): { readonly kept: Claim[]; readonly unfounded: Claim[] } {
  const states = ({ of, member }: DigestProof) =>
    claims.some(({ piece, facts }) => piece === of && facts[member] !== undefined);
  const founded = claims.map((claim) => ({
    ...claim,
    by: claim.by.filter((proof) => proof.type !== 'digest' || states(proof)),
  }));
  const isFounded = ({ by }: Claim) => by.length > 0;
  return { kept: founded.filter(isFounded), unfounded: founded.filter((claim) => !isFounded(claim)) };
}

/** What is known of a claim's order to manifest 1. */
type Order = 'older' | 'dated older' | 'newer' | 'open' | 'forked';

/** Places in a statement log prove an order. The time of a tenancy log is the log's own word. */
function orderOf(
  { by, facts }: Claim,
  { firstIssuedAtMs, sizes, leaves }: { firstIssuedAtMs: number; sizes: Sizes; leaves: ReadonlySet<string> },
): Order {
  const orders = by.filter(isStatementLog).flatMap(({ log, leaf_index: index }): Order[] => {
    const name = log.subject ?? '';
    const first = sizes(firstName(name));
    if (first === undefined || index === undefined) return [];
    if (BigInt(index) >= first) return ['newer'];
    return [name === firstName(name) ? 'older' : 'forked'];
  });
  const inTenancyLog = by.filter(isTenancyLog);
  if (orders.includes('older') || inTenancyLog.some((proof) => leaves.has(leafOf(proof)))) return 'older';
  if (facts.committed !== undefined && Date.parse(facts.committed) < firstIssuedAtMs) return 'dated older';
  if (orders.length === 0) return inTenancyLog.length > 0 ? 'open' : 'newer';
  return orders.includes('newer') ? 'newer' : 'forked';
}

const UNORDERED = 'no given seal that is registered in a statement log proves it';

/** More pieces than this are counted; all of them are in the finding. */
const MOST_NAMED = 3;

/** The pieces that a sentence names, and all of them where it does not. */
function named(pieces: readonly string[]): { readonly some: string; readonly all?: readonly string[] } {
  const others = pieces.length - MOST_NAMED;
  if (others <= 0) return { some: pieces.join(', ') };
  return { some: [...pieces.slice(0, MOST_NAMED), `and ${others} more`].join(', '), all: pieces };
}

function unordered(pieces: readonly string[]): Partial<Findings> {
  const { some, all } = named(pieces);
  const said =
    pieces.length === 1
      ? `whether ${some} is older than a key manifest is unproven: only its own log says when it was made`
      : `whether ${pieces.length} pieces are older than a key manifest is unproven (${some}): only their own logs say when they were made`;
  const detail = `${said}, and ${UNORDERED}`;
  return missing('order', detail, all);
}

function unplaced(pieces: readonly string[]): Partial<Findings> {
  const { some, all } = named(pieces);
  const why = 'a log that was forked openly may have lost what it had at the first key manifest';
  return missing('order', `${why}, so a place in it does not prove that an entry is older (${some})`, all);
}

/** What is older than the first manifest, or dated older by nothing but its own log. */
function unvouched(
  { firstIssuedAtMs }: KeyManifest,
  pieces: readonly string[],
  order: 'older' | 'dated older',
): Partial<Findings> {
  const { some, all } = named(pieces);
  const isOne = pieces.length === 1;
  const older = isOne
    ? `${some} is older than the manifest`
    : `${pieces.length} pieces are older than the manifest (${some})`;
  const said =
    order === 'older' ? older : `${isOne ? 'its own log says' : 'their own logs say'} that ${older}, and ${UNORDERED}`;
  const why = `manifest 1 was issued at ${iso(firstIssuedAtMs)}, and only the deployment itself vouches for its keys before that time`;
  return missing('key_history', `${said}: ${why}`, all);
}

/** What a verdict says about claims and the first manifest: only what is proven, and what is not. */
function historyOf(manifest: KeyManifest, claims: readonly Claim[]): Partial<Findings>[] {
  const { firstIssuedAtMs, logs } = manifest;
  const sizes: Sizes = (log) => logs.find(({ name }) => name === log)?.firstSize;
  const first = { firstIssuedAtMs, sizes, leaves: leavesBefore(claims, sizes) };
  const ordered = claims.map((claim) => ({ piece: claim.piece, order: orderOf(claim, first) }));
  const inOrder = (wanted: string) => [
    ...new Set(ordered.filter(({ order }) => order === wanted).map(({ piece }) => piece)),
  ];
  const [open, forked] = [inOrder('open'), inOrder('forked')];
  return [
    ...(['older', 'dated older'] as const).flatMap((order) => {
      const pieces = inOrder(order);
      return pieces.length === 0 ? [] : [unvouched(manifest, pieces, order)];
    }),
    ...(open.length === 0 ? [] : [unordered(open)]),
    ...(forked.length === 0 ? [] : [unplaced(forked)]),
  ];
}

/**
 * Judges a verdict by the manifest that its keys are from: a key that signed what another role signs is not trusted, and a
 * claim of a revoked key counts only if a log proves that it is older than the revocation; otherwise its facts are taken away
 * and the piece is unproven. Says which manifest was used, that later revocations are not known, and what is known of the
 * order of claims and manifests (docs/formats/key-manifest.md).
 */
export function judgeByManifest(verdict: Verdict, manifest: KeyManifest): Verdict {
  const revocation = revocationsAmong(verdict.claims.filter((claim) => !misuseOf(manifest, claim)));
  const isRefused = (claim: Claim) =>
    (misuseOf(manifest, claim) ?? refusalOf(manifest, claim, revocation)) !== undefined;
  const counting = countingProofs(verdict.claims, isRefused);
  const cleaned = verdict.claims.map((claim) => withCountingProofs(claim, counting, isRefused));
  const replaced = verdict.claims.filter(({ by }, at) => by.some((proof) => !cleaned[at]!.by.includes(proof)));
  const misused = cleaned.flatMap((claim) => misuseOf(manifest, claim) ?? []);
  const claims = cleaned.filter((claim) => !misuseOf(manifest, claim));
  const judged = claims.map((claim) => ({
    claim,
    refusal: otherLogOf(manifest, claim) ?? refusalOf(manifest, claim, revocation),
  }));
  const dropped = judged.flatMap(({ claim, refusal }): Partial<Findings>[] =>
    refusal === undefined ? [] : [notCovered(claim.piece, 'unproven', refusal)],
  );
  const { kept, unfounded } = withoutUnfounded(
    judged.filter(({ refusal }) => refusal === undefined).map(({ claim }) => claim),
  );
  const isKept = (piece: string) => kept.some((claim) => claim.piece === piece);
  const when = `key manifest ${manifest.number} of ${iso(manifest.issuedAtMs)}`;
  return createVerdict(
    { ...verdict, claims: kept, remarks: verdict.remarks.filter(({ piece }) => isKept(piece)) },
    misused,
    dropped,
    replaced.map(({ piece }) => notCovered(piece, 'explanation', REPLACED)),
    unfounded.map(({ piece }) => notCovered(piece, 'unproven', 'the evidence that has its digest is unproven')),
    ...historyOf(manifest, kept),
    missing('later_manifests', `the keys are from ${when}: later revocations are not known`),
  );
}
