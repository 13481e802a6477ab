import { type VerificationCode, VerificationError } from '../errors.js';

/** The steps of checking a transparent statement, in the order in which they are told. */
export const VERIFICATION_STEPS = [
  'payload_hash',
  'statement_signature',
  'statement_log_inclusion',
  'statement_log_receipt',
  'tenancy_log_inclusion',
  'tenancy_log_receipt',
  'event',
] as const;

export type StepName = (typeof VERIFICATION_STEPS)[number];

/** What became of one step. `not_checked` is never a pass: there was nothing to check it with. */
export interface VerificationStep<Name extends string = StepName> {
  readonly step: Name;
  readonly outcome: 'verified' | 'refused' | 'not_checked';
  /** Of a refusal. */
  readonly code?: VerificationCode;
  /** One sentence for a person. */
  readonly detail: string;
}

/** All steps and the verdict: verified when nothing is refused and the statement log's receipt is verified. */
export interface VerificationReport<Name extends string = StepName> {
  readonly verified: boolean;
  readonly steps: readonly VerificationStep<Name>[];
}

/** A step that had nothing to check. */
export function notChecked<Name extends string>(step: Name, detail: string): VerificationStep<Name> {
  return { step, outcome: 'not_checked', detail };
}

/** A refused step. */
export function refused<Name extends string>(step: Name, error: VerificationError): VerificationStep<Name> {
  return { step, outcome: 'refused', code: error.code, detail: error.message };
}

/** Runs one step; its sentence when it holds, its refusal when it does not. Any other error is a bug and goes on. */
export async function runStep<Name extends string>(
  step: Name,
  check: () => Promise<string> | string,
): Promise<VerificationStep<Name>> {
  try {
    return { step, outcome: 'verified', detail: await check() };
  } catch (error) {
    if (error instanceof VerificationError) return refused(step, error);
    throw error;
  }
}
