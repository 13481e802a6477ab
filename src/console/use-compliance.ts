import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type CheckedAsset, type Judged, judgeAlso } from './compliance.js';
import { type ComplianceStep, complianceReader } from './compliance-reader.js';
import { readJson, Unanswered } from './session-reader.js';

/** What was read so far, and its verdicts. */
export interface ComplianceSoFar extends ComplianceStep {
  readonly judged: readonly Judged[];
  /** The moment of all verdicts, Unix milliseconds. */
  readonly nowMs: number;
}

/** A reading of policies, assets and events, step by step. */
export interface ComplianceReading {
  /** Assets that a step reads. */
  readonly atOnce: number;
  soFar(): ComplianceSoFar | undefined;
  /** Takes a step, or waits for the one that is under way. A step that failed can be repeated. @throws {Unanswered} */
  step(): Promise<ComplianceSoFar>;
}

/** Where a reading outlives the view, for a reader who comes back to it. */
export type KeptReading = RefObject<ComplianceReading | undefined>;

interface ComplianceState {
  readonly soFar?: ComplianceSoFar | undefined;
  readonly fault?: Unanswered | undefined;
  readonly isBusy: boolean;
}

/** Goes on with the reading that was kept, or reads a first step; and another one whenever the reader asks for more. */
export function useCompliance(atOnce: number, kept: KeptReading) {
  const [reading] = useState(() => (kept.current?.atOnce === atOnce ? kept.current : newReading(atOnce)));
  const [state, setState] = useState<ComplianceState>({ soFar: reading.soFar(), isBusy: false });
  const more = () => {
    setState(({ soFar }) => ({ soFar, isBusy: true }));
    reading
      .step()
      .then((soFar) => setState({ soFar, isBusy: false }))
      .catch((fault: unknown) => {
        if (!(fault instanceof Unanswered)) throw fault;
        setState(({ soFar }) => ({ soFar, fault, isBusy: false }));
      });
  };
  useEffect(() => {
    kept.current = reading;
    if (!state.soFar) more();
  }, []);
  return { ...state, more };
}

function newReading(atOnce: number): ComplianceReading {
  const next = complianceReader(readJson, atOnce);
  let soFar: ComplianceSoFar | undefined;
  let running: Promise<ComplianceSoFar> | undefined;
  async function take(): Promise<ComplianceSoFar> {
    soFar = withStep(soFar, await next());
    return soFar;
  }
  return {
    atOnce,
    soFar: () => soFar,
    step() {
      running ??= take().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}

/** What is younger than the first step is in none: so all verdicts are of one moment. */
function withStep(before: ComplianceSoFar | undefined, step: ComplianceStep): ComplianceSoFar {
  const nowMs = before?.nowMs ?? Date.now();
  const assets: readonly CheckedAsset[] = [...(before?.assets ?? []), ...step.assets];
  return { ...step, assets, judged: judgeAlso(before?.judged ?? [], step.policies, step.assets, nowMs), nowMs };
}
