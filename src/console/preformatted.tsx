import type { ComponentChildren } from 'preact';

/** Text with its own line breaks. Long lines scroll, also by keyboard. */
export function Preformatted({ children }: { readonly children: ComponentChildren }) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keyboard
  return <pre tabIndex={0}>{children}</pre>;
}
