import { useRef, useState } from 'preact/hooks';
import { Unanswered } from './session-reader.js';

/** A change that the reader makes, and what came of it. */
export interface Act {
  readonly isBusy: boolean;
  /** What the service said against it; empty otherwise. */
  readonly fault: string;
  /** The fault is that the reader's session has ended. */
  readonly isSignedOut: boolean;
  /** What was done; empty otherwise. */
  readonly done: string;
  /** @param change resolves with a sentence about what was done */
  run(change: () => Promise<string>): void;
}

/**
 * Makes one change after the other, and keeps the answer of the last one for the reader. While one is under way another
 * is ignored; its buttons say so by `aria-disabled`, because browsers take the focus away from a disabled button.
 */
export function useAct(): Act {
  const [state, setState] = useState({ isBusy: false, fault: '', isSignedOut: false, done: '' });
  const isRunning = useRef(false);
  const run = (change: () => Promise<string>) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setState({ isBusy: true, fault: '', isSignedOut: false, done: '' });
    const end = (fault: string, done: string, isSignedOut = false) => {
      isRunning.current = false;
      setState({ isBusy: false, fault, isSignedOut, done });
    };
    change().then(
      (done) => end('', done),
      (error: unknown) => {
        if (!(error instanceof Unanswered)) throw error;
        end(error.message, '', error.reason === 'signed_out');
      },
    );
  };
  return { ...state, run };
}
