import { useState } from 'preact/hooks';
import { Unanswered } from './session-reader.js';

/** A change that the reader makes, and what came of it. */
export interface Act {
  readonly isBusy: boolean;
  /** What the service said against it; empty otherwise. */
  readonly fault: string;
  /** What was done; empty otherwise. */
  readonly done: string;
  /** @param change resolves with a sentence about what was done */
  run(change: () => Promise<string>): void;
}

/** Makes one change after the other, and keeps the answer of the last one for the reader. */
export function useAct(): Act {
  const [state, setState] = useState({ isBusy: false, fault: '', done: '' });
  const run = (change: () => Promise<string>) => {
    setState({ isBusy: true, fault: '', done: '' });
    change().then(
      (done) => setState({ isBusy: false, fault: '', done }),
      (error: unknown) => {
        if (!(error instanceof Unanswered)) throw error;
        setState({ isBusy: false, fault: error.message, done: '' });
      },
    );
  };
  return { ...state, run };
}
