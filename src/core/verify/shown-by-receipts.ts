import { Header } from '../cose/labels.js';
import type { PublicJwk } from '../cose/public-key.js';
import type { Sign1Message } from '../cose/sign1.js';
import { keyHasKid } from '../cose/verify-sign1.js';
import type { AttachedReceipt } from '../statement/transparent-statement.js';
import type { InclusionProof } from './claim.js';
import { openReceiptHeaders } from './proofs.js';
import { checked, createVerdict, type Findings, notCovered } from './verdict.js';

/** What receipts for one leaf show. */
export interface ShownByReceipts {
  readonly proofs: readonly InclusionProof[];
  /** Why nothing is shown, if it is so, and the results of the receipts that do not count. */
  readonly findings: Partial<Findings>;
}

interface Failed {
  readonly receipt: AttachedReceipt;
  readonly failed: Partial<Findings>;
}

/** What a failed check found: its sentence, and the code of a contradiction. */
const resultOf = (failed: Partial<Findings>): { readonly code?: string; readonly detail: string } =>
  failed.contradictions?.[0] ?? failed.notCovered![0]!;

function uncounted(piece: string, { receipt: { place }, failed }: Failed): Partial<Findings> {
  const { code, detail } = resultOf(failed);
  const result = code === undefined ? detail : `${detail} [${code}]`;
  return notCovered(piece, 'explanation', `receipt ${place} does not count: ${result}`);
}

/**
 * A text that sorts the most telling result first, in whatever order the receipts are. What a log whose key is trusted
 * has signed says more than what only names such a key, and that more than what names a key of anybody else.
 */
function telling({ receipt: { message }, failed }: Failed, logKeys: readonly PublicJwk[]): string {
  const kid = 'protectedHeader' in message && message.protectedHeader.get(Header.kid);
  const isNamed = kid instanceof Uint8Array && logKeys.some((key) => keyHasKid(key, kid));
  const { code, detail } = resultOf(failed);
  return `${[code !== 'log_mismatch', !isNamed, code === undefined]} ${detail}`;
}

/**
 * Checks the receipts for one leaf that a statement carries, and resolves with the proofs. One receipt that verifies is
 * enough: nothing authenticates the list, so anybody can add a receipt to genuine evidence or remove one. All others are
 * named with their results, and change no outcome. If none verifies, the most telling one decides.
 * @param elsewhere proofs of the leaf that other files brought; they count only if no receipt in the statement does
 * @throws {VerificationError} never: each failure is a finding
 */
export async function shownByReceipts(
  piece: string,
  receipts: readonly AttachedReceipt[],
  logKeys: readonly PublicJwk[],
  elsewhere: readonly InclusionProof[],
  check: (receipt: Sign1Message) => Promise<InclusionProof>,
): Promise<ShownByReceipts> {
  const results = await Promise.all(
    receipts.map(async (receipt) => ({ receipt, ...(await checked(piece, () => check(receipt.message))) })),
  );
  const own = results.flatMap(({ proven }) => proven ?? []);
  const proofs = own.length > 0 ? own : elsewhere;
  const failures: Failed[] = results.flatMap(({ receipt, failed }) => (failed ? [{ receipt, failed }] : []));
  failures.sort((one, other) => (telling(one, logKeys) < telling(other, logKeys) ? -1 : 1));
  const decides = proofs.length > 0 ? undefined : failures.shift();
  const others = failures.map((each) => uncounted(piece, each));
  const headers = results.map(({ receipt, failed }) => (failed ? {} : openReceiptHeaders(piece, receipt.message)));
  return { proofs, findings: createVerdict(decides?.failed ?? {}, others, headers) };
}
