import { RELEASED_PAGES } from '../core/bundle/known-pages.js';
import type { PublicJwk } from '../core/cose/public-key.js';
import { VerificationError } from '../core/errors.js';
import type { EvidenceFile } from '../core/evidence/evidence-file.js';
import type { GivenTrust } from '../core/evidence/given-trust.js';
import { type ManifestSource, manifestSources } from '../core/evidence/manifest-sources.js';
import { claimedRoot, type RootTrust, trustRoot, verifyUnderRoot } from '../core/evidence/root-trust.js';
import { UsageError } from '../core/evidence/usage-error.js';
import {
  type EvidenceVerdict,
  NotEvidence,
  requireReadable,
  verifyEvidence,
} from '../core/evidence/verify-evidence.js';
import { rootFingerprint } from '../core/keys/root-fingerprint.js';
import type { NoteKey } from '../core/tlog/signed-note.js';
import { createVerdict, failure, notCovered, type TakenFor, type Verdict } from '../core/verify/verdict.js';
import { pageVerify } from './page-verify.js';
import { TEXTS } from './texts.js';

/** Set by the build: SHA-256 of the page of bundles, in hex. Empty in that page itself, which cannot contain its own. */
declare const BUNDLE_PAGE: string;
const KNOWN_PAGES = new Map([...RELEASED_PAGES, [BUNDLE_PAGE, TEXTS.thisVersion]]);

/** What the reader trusts and expects; empty members are not given. */
export interface ReaderTrust {
  /** Thumbprint of the operator's root key. */
  readonly root?: Uint8Array | undefined;
  /** Keys that the reader got from the operator, in place of a root. */
  readonly keys: readonly PublicJwk[];
  readonly issuer?: string | undefined;
  readonly witnesses: readonly NoteKey[];
  /** The key manifest that an earlier check under the same root found. */
  readonly keptManifest?: ManifestSource | undefined;
}

/** Where the keys of a check are from. */
type KeysOrigin = 'pinned_root' | 'claimed_root' | 'given_keys';

/** The answer to a reader. */
export type CheckResult =
  | {
      readonly verdict: Verdict;
      readonly files: readonly TakenFor[];
      readonly origin: KeysOrigin;
      readonly reader: ReaderTrust;
      /** Fingerprint of the root key, if there is one. */
      readonly fingerprint?: string | undefined;
      readonly root?: RootTrust | undefined;
    }
  | {
      readonly problem: Problem;
      readonly detail: string;
      readonly files: readonly TakenFor[];
      /** The reader's session has ended. */
      readonly isSignedOut?: boolean;
    };

/** Why nothing was checked. */
type Problem = keyof typeof TEXTS.problems;

function givenTrust(reader: ReaderTrust, root: RootTrust | undefined): GivenTrust {
  const issuerKeys = [...(root?.issuerKeys ?? []), ...reader.keys];
  const verifySignature = pageVerify();
  return {
    logKeys: async () => [...(root?.logKeys ?? []), ...reader.keys],
    issuers: async () => ({ issuerKeys, issuer: reader.issuer, verifySignature }),
    issuer: reader.issuer,
    verifySignature,
    hasIssuers: true,
    statementLog: {},
    tenancyLog: {},
    witnesses: reader.witnesses,
    quorum: reader.witnesses.length,
    witnessedLog: undefined,
    statementOnly: false,
    ...(BUNDLE_PAGE === '' ? {} : { knownPages: async () => KNOWN_PAGES }),
  };
}

/**
 * Checks files for a reader. Without a fingerprint or keys of the reader, the evidence is checked with the keys that it
 * brings itself: that can refuse it, but verifies nothing.
 */
export async function checkEvidence(
  files: readonly EvidenceFile[],
  reader: ReaderTrust,
  progress: (done: string) => void,
): Promise<CheckResult> {
  return orProblem(() => answer(files, reader, progress));
}

/** What could not be read is told to the reader. @param problem what that means */
export async function orProblem(
  check: () => Promise<CheckResult>,
  problem: Problem = 'not_evidence',
): Promise<CheckResult> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { problem, detail: error.message, files: error instanceof NotEvidence ? error.files : [] };
  }
}

async function answer(
  files: readonly EvidenceFile[],
  reader: ReaderTrust,
  progress: (done: string) => void,
): Promise<CheckResult> {
  const check: Check = (trust) => verifyEvidence(files, trust, progress);
  const found = await manifestSources(files);
  const sources = reader.root && reader.keptManifest ? [...found, reader.keptManifest] : found;
  if (sources.length === 0 && reader.keys.length === 0) {
    await requireReadable(files);
    return { problem: 'no_keys', detail: TEXTS.noKeys, files: takenFor(files) };
  }
  return checkUnder(sources, reader, takenFor(files), check);
}

/** A check of evidence, by the keys that it is given. */
type Check = (trust: GivenTrust) => Promise<EvidenceVerdict>;

/**
 * Checks under the root key that the reader trusts, under the reader's keys, or else under the root key that the first key
 * list names itself.
 * @param sources key lists; none only if the reader has keys
 */
export async function checkUnder(
  sources: readonly ManifestSource[],
  reader: ReaderTrust,
  files: readonly TakenFor[],
  check: Check,
): Promise<CheckResult> {
  const [source] = sources;
  if (!source || (!reader.root && reader.keys.length > 0))
    return { ...(await check(givenTrust(reader, undefined))), origin: 'given_keys', reader };
  let thumbprint: Uint8Array;
  try {
    thumbprint = reader.root ?? claimedRoot(source);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return { verdict: createVerdict(failure(source.name, error)), files, origin: 'claimed_root', reader };
  }
  let root: RootTrust | undefined;
  const judged = await verifyUnderRoot(
    async () => {
      root = await trustRoot(thumbprint, sources, pageVerify());
      return root;
    },
    (trusted) => check(givenTrust(reader, trusted)),
  );
  const shared = { files, reader, fingerprint: rootFingerprint(thumbprint), root };
  if (reader.root) return { ...shared, verdict: judged.verdict, origin: 'pinned_root' };
  return { ...shared, verdict: unvouched(judged), origin: 'claimed_root' };
}

const takenFor = (files: readonly EvidenceFile[]): TakenFor[] =>
  files.map(({ path, takenFor: kind }) => ({ file: path, kind }));

/** Nothing is verified under keys that only the evidence itself vouches for. */
function unvouched({ verdict }: EvidenceVerdict): Verdict {
  return createVerdict(verdict, notCovered(TEXTS.keysPiece, 'unproven', TEXTS.keysUnvouched));
}
