import { useEffect, useMemo, useState } from 'preact/hooks';
import { type CheckedAsset, type Judged, judgeAlso } from './compliance.js';
import { type ComplianceStep, complianceReader } from './compliance-reader.js';
import { readJson, Unanswered } from './session-reader.js';

/** What was read so far, and its verdicts. */
export interface ComplianceSoFar extends ComplianceStep {
  readonly judged: readonly Judged[];
  /** The moment of all verdicts, Unix milliseconds. */
  readonly nowMs: number;
}

interface ComplianceState {
  readonly soFar?: ComplianceSoFar;
  readonly fault?: Unanswered | undefined;
  readonly isBusy: boolean;
}

/** Reads a first step when the view appears, and another one whenever the reader asks for more. */
export function useCompliance(atOnce: number) {
  const [state, setState] = useState<ComplianceState>({ isBusy: true });
  const next = useMemo(() => complianceReader(readJson, atOnce), []);
  const more = () => {
    setState(({ soFar }) => ({ ...(soFar && { soFar }), isBusy: true }));
    next()
      .then((step) => setState(({ soFar }) => ({ soFar: withStep(soFar, step), isBusy: false })))
      .catch((fault: unknown) => {
        if (!(fault instanceof Unanswered)) throw fault;
        setState(({ soFar }) => ({ ...(soFar && { soFar }), fault, isBusy: false }));
      });
  };
  useEffect(more, []);
  return { ...state, more };
}

/** What is younger than the first step is in none: so all verdicts are of one moment. */
function withStep(before: ComplianceSoFar | undefined, step: ComplianceStep): ComplianceSoFar {
  const nowMs = before?.nowMs ?? Date.now();
  const assets: readonly CheckedAsset[] = [...(before?.assets ?? []), ...step.assets];
  return { ...step, assets, judged: judgeAlso(before?.judged ?? [], step.policies, step.assets, nowMs), nowMs };
}
