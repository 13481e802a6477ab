import { toHex } from '../bytes.js';
import { rfc9162Leaf } from '../rfc9162/rfc9162-leaf.js';
import { decodeStatement } from '../statement/decode-statement.js';
import { statementEntry } from '../statement/statement-entry.js';
import { otherHeaders } from '../statement/transparent-statement.js';
import type { Claim, InclusionProof } from '../verify/claim.js';
import { proofsOfLeaf } from '../verify/proofs-of-leaf.js';
import type { IssuerTrust } from '../verify/trust.js';
import {
  checked,
  createVerdict,
  type Findings,
  missing,
  notCovered,
  type Verdict,
  verdictWithin,
} from '../verify/verdict.js';
import { verifyStatement } from '../verify/verify-statement.js';
import { provenStatement, uncoveredHeaders } from '../verify/verify-transparent-statement.js';
import type { EvidenceFile } from './evidence-file.js';
import type { GivenEntry } from './receipt-evidence.js';

/** A statement that was given without anything attached to it. */
export type GivenStatement = GivenEntry & {
  readonly bytes: Uint8Array;
  /** Labels of its unprotected headers, which no signature covers. */
  readonly headers: readonly string[];
};

/** The plain statements of these files, and what is wrong with those that cannot be read. */
export async function readGivenStatements(
  files: readonly EvidenceFile[],
): Promise<{ readonly statements: readonly GivenStatement[]; readonly unread: readonly Partial<Findings>[] }> {
  const statements: GivenStatement[] = [];
  const unread: Partial<Findings>[] = [];
  for (const { path, bytes } of files) {
    const { proven: read, failed } = await checked(path, () => decodeStatement(bytes));
    if (!read) unread.push(failed);
    else
      statements.push({
        piece: path,
        bytes,
        entry: statementEntry(read),
        headers: otherHeaders(read.unprotectedHeader),
        proofs: [],
      });
  }
  return { statements, unread };
}

/** Proofs of the same entry that another piece of evidence brought. */
function proofsOfEntry(entry: Uint8Array, claims: readonly Claim[]): InclusionProof[] {
  const proofs = proofsOfLeaf(claims, toHex(rfc9162Leaf(entry)));
  return proofs.map(({ proof }) => proof).filter(({ vds }) => vds === 1);
}

/**
 * What is known of a plain statement in the end. Without its issuer's keys only that a log holds it, whatever it says.
 * @param issuers undefined when no issuer's key was given
 */
export async function statementVerdict(
  { piece, bytes, entry, headers, proofs }: GivenStatement,
  claims: readonly Claim[],
  issuers: IssuerTrust | undefined,
): Promise<Verdict> {
  const logged = [...proofs, ...proofsOfEntry(entry, claims)];
  if (!issuers)
    return verdictWithin(
      piece,
      createVerdict(
        logged.length === 0 ? {} : { claims: [{ kind: 'entry', piece: 'statement', facts: {}, by: logged }] },
        missing('issuer_keys', 'no key of an issuer was given: who signed the statement is not checked'),
        notCovered('statement', 'unproven', 'its signature was not checked: nothing that it says is a fact'),
        uncoveredHeaders(headers),
      ),
    );
  const { proven, failed } = await checked('statement', () => verifyStatement(bytes, issuers));
  return verdictWithin(
    piece,
    createVerdict(proven ? provenStatement(proven, logged) : failed, uncoveredHeaders(headers)),
  );
}
