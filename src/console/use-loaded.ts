import { useEffect, useState } from 'preact/hooks';
import { Unanswered } from './session-reader.js';

/** What a view reads before it can show anything. */
interface Loaded<Value> {
  readonly value?: Value;
  readonly fault?: Unanswered;
  /** Reads it again; what is there stays until then. */
  reload(): void;
}

/** Reads something of the service when the view appears, and whenever one of the inputs changes. */
export function useLoaded<Value>(load: () => Promise<Value>, inputs: readonly unknown[]): Loaded<Value> {
  const [state, setState] = useState<{ readonly value?: Value; readonly fault?: Unanswered }>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    load()
      .then((value) => isCurrent && setState({ value }))
      .catch((error: unknown) => {
        if (!(error instanceof Unanswered)) throw error;
        if (isCurrent) setState({ fault: error });
      });
    return () => {
      isCurrent = false;
    };
  }, [...inputs, turn]);
  return { ...state, reload: () => setTurn((before) => before + 1) };
}
