import { useEffect, useState } from 'preact/hooks';
import { Unanswered } from './session-reader.js';

/** What a view reads before it can show anything. */
interface Loaded<Value> {
  readonly value?: Value;
  readonly fault?: Unanswered;
  /** Reads it again; what is there stays until then. */
  reload(): void;
}

/**
 * Reads something of the service when the view appears, and whenever one of the inputs changes. There is nothing until
 * what the new inputs ask for is read.
 */
export function useLoaded<Value>(load: () => Promise<Value>, inputs: readonly unknown[]): Loaded<Value> {
  const [state, setState] = useState<{
    readonly value?: Value;
    readonly fault?: Unanswered;
    readonly inputs?: readonly unknown[];
  }>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    load()
      .then((value) => isCurrent && setState({ value, inputs }))
      .catch((error: unknown) => {
        if (!(error instanceof Unanswered)) throw error;
        if (isCurrent) setState({ fault: error, inputs });
      });
    return () => {
      isCurrent = false;
    };
  }, [...inputs, turn]);
  const isCurrent = state.inputs?.every((input, at) => input === inputs[at]);
  return { ...(isCurrent ? state : {}), reload: () => setTurn((before) => before + 1) };
}
