import { useEffect, useRef } from 'preact/hooks';
import type { CheckResult } from './check-evidence.js';

const TAKES_INPUT = 'input, textarea, select';

/**
 * Moves the focus to the heading of the next answer after `ask`, once. The focus stays where it is if the reader has
 * moved it since, or is in a field.
 */
export function useAnswerFocus(result: CheckResult | undefined) {
  const heading = useRef<HTMLHeadingElement>(null);
  const askedFrom = useRef<Element | null>(null);
  useEffect(() => {
    if (!result || !askedFrom.current) return;
    const now = document.activeElement ?? document.body;
    const hasStayed = now === askedFrom.current || now === document.body;
    if (hasStayed && !now.matches(TAKES_INPUT)) heading.current?.focus();
    askedFrom.current = null;
  }, [result]);
  const ask = () => {
    askedFrom.current = document.activeElement ?? document.body;
  };
  return { heading, ask };
}
