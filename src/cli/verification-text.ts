import type { VerificationCode } from '../core/errors.js';
import type { VerificationReport, VerificationStep } from '../core/verify/verification-report.js';
import { visibleLine } from './visible-text.js';

const STEP_TITLES: Readonly<Record<string, string>> = {
  payload_hash: 'payload hash',
  statement_signature: 'statement signature',
  statement_log_inclusion: 'statement-log inclusion path',
  statement_log_receipt: 'statement-log receipt signature',
  tenancy_log_inclusion: 'tenancy-log inclusion path',
  tenancy_log_receipt: 'tenancy-log receipt signature',
  event: 'event matches statement',
};

/** The title of a step; one that is named after what it checks is its own. */
const title = (step: string): string => STEP_TITLES[step] ?? step;

const OUTCOMES: Readonly<Record<VerificationStep['outcome'], string>> = {
  verified: 'ok         ',
  refused: 'REFUSED    ',
  not_checked: 'not checked',
};

/** What a refusal means to somebody who holds the files; codes without an entry speak for themselves. */
const MEANINGS: Readonly<Partial<Record<VerificationCode, string>>> = {
  malformed: 'The file is damaged, or it is not what it is given as.',
  unsupported: 'This program does not know the kind of evidence: it may be good, but it is not checked.',
  payload_hash_mismatch: 'This is not the vCon that the statement was made about, or it has changed since.',
  statement_signature_invalid: 'The statement was changed after its issuer signed it, or never was the issuer’s.',
  issuer_key_not_trusted: 'Somebody signed the statement, but nobody whose key you gave.',
  certificate_invalid:
    'The signer’s certificates are not good for this: broken, of another name, or not valid at that time.',
  receipt_missing: 'Nothing shows that the statement was ever registered.',
  inclusion_path_invalid: 'The receipt does not lead from this entry to any root of the log.',
  receipt_signature_invalid: 'The log never signed a tree with this entry: the receipt is another entry’s, or forged.',
  log_key_not_trusted: 'Some log signed the receipt, but none whose key you gave.',
  log_mismatch: 'The receipt is genuine, but of another log than this entry belongs to.',
  event_mismatch: 'The event that came with the statement is another one, or was changed.',
  leaf_mismatch:
    'The log holds something else at the place that the event names: the event was changed, or is another.',
  consistency_invalid: 'The log shows two histories: keep both files, they prove it.',
  seal_signature_invalid: 'The log’s keeper never signed this state of the log.',
  massif_corrupt: 'A log file was changed or damaged after it was written.',
  insufficient_data: 'The files do not reach as far as what is to be checked: fetch newer ones.',
  checkpoint_signature_invalid: 'The checkpoint was changed after it was signed, or never was the log’s.',
  witness_quorum_missing: 'Fewer of your witnesses than you ask for have seen this state of the log.',
  algorithm_not_allowed:
    'The signature algorithm is missing, weak or not the key’s: such signatures are forged easily.',
  critical_header_unknown: 'The signer demands a check that this program does not know.',
  signature_malformed: 'What stands in the signature’s place is no signature.',
  key_invalid: 'One of the keys is broken.',
};

function stepLine({ step, outcome, code, detail }: VerificationStep<string>): string {
  return visibleLine(`${OUTCOMES[outcome]}  ${title(step)}: ${detail}${code === undefined ? '' : ` [${code}]`}`);
}

function verdict({ verified, steps }: VerificationReport<string>): string {
  const refused = steps.find(({ outcome }) => outcome === 'refused');
  if (refused) {
    const meaning = refused.code && MEANINGS[refused.code];
    return `NOT VERIFIED: ${title(refused.step)} failed.${meaning ? ` ${meaning}` : ''}`;
  }
  const open = steps.filter(({ outcome }) => outcome === 'not_checked').map(({ step }) => title(step));
  if (!verified) return 'NOT VERIFIED.';
  return open.length === 0 ? 'VERIFIED.' : `VERIFIED as far as checked. Not checked: ${open.join(', ')}.`;
}

/** A report for a person: the verdict, then one line a step. */
export function reportText(report: VerificationReport<string>): string {
  return [visibleLine(verdict(report)), '', ...report.steps.map(stepLine)].join('\n');
}
