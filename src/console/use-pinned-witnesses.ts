import { useMemo, useState } from 'preact/hooks';
import { keep, readKept } from './kept-trust.js';
import { readWitnesses } from './stated-trust.js';

/** Keys of witnesses that the reader knows: the same that the verifier asks for, kept in this browser. */
export function usePinnedWitnesses() {
  const [text, setText] = useState(() => readKept().witnesses);
  const read = useMemo(() => readWitnesses(text), [text]);
  const change = (typed: string) => {
    setText(typed);
    keep({ ...readKept(), witnesses: typed });
  };
  return { text, ...read, change };
}
