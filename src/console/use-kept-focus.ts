import { useEffect } from 'preact/hooks';

const PARTS = 'section, search, main';

/**
 * If a change of the page takes away the element that has the focus, and nothing else takes the focus, gives it to the
 * part of the page where the element was: to its heading, or to the part itself.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    /** The element that has the focus and those around it, innermost first; empty if none has it. */
    let around: readonly Element[] = [];
    const isLost = () => around[0]?.isConnected === false && document.activeElement === document.body;
    const took = ({ target }: FocusEvent) => {
      around = withParents(target);
    };
    // A reader who clicks beside it has left it. A browser may also tell so while it removes the element.
    const left = () =>
      setTimeout(() => {
        if (around[0]?.isConnected && document.activeElement === document.body) around = [];
      });
    const give = () => {
      if (!isLost()) return;
      const part = around.find((element) => element.isConnected && element.matches(PARTS));
      const target = part?.querySelector<HTMLElement>('h1, h2, h3') ?? part;
      if (!(target instanceof HTMLElement)) return;
      target.tabIndex = -1;
      target.focus();
    };
    // After the views' own effects, which run after a frame too.
    const observer = new MutationObserver(() => isLost() && requestAnimationFrame(() => setTimeout(give)));
    observer.observe(document.body, { childList: true, subtree: true });
    document.addEventListener('focusin', took);
    document.addEventListener('focusout', left);
    return () => {
      observer.disconnect();
      document.removeEventListener('focusin', took);
      document.removeEventListener('focusout', left);
    };
  }, []);
}

function withParents(target: EventTarget | null): Element[] {
  const found: Element[] = [];
  for (let each = target instanceof Element ? target : null; each; each = each.parentElement) found.push(each);
  return found;
}
