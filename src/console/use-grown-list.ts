import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * For a list with a button that asks for more entries: if the button goes with the last of them, the first new entry
 * takes the focus, so that a reader by keyboard reads on there.
 * @param list whose children are the entries
 * @returns what the button calls before it asks
 */
export function useGrownList(list: RefObject<HTMLElement | null>, count: number, hasMore: boolean): () => void {
  const before = useRef(count);
  useLayoutEffect(() => {
    const entry = list.current?.children[before.current];
    before.current = Number.POSITIVE_INFINITY;
    if (hasMore || !(entry instanceof HTMLElement) || document.activeElement !== document.body) return;
    entry.tabIndex = -1;
    (entry.querySelector<HTMLElement>('a[href], button') ?? entry).focus();
  }, [count, hasMore]);
  return () => {
    before.current = count;
  };
}
