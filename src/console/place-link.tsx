import type { ComponentChildren } from 'preact';
import type { Wanted } from './conversation.js';

/** How a view leads to another place of the console. */
export interface PlaceLink {
  onGo(query: string): void;
}

/** A link that keeps the page, so that a file of the reader stays. A new tab opens it as any link. */
export function PlaceAnchor({
  place,
  onGo,
  children,
}: PlaceLink & { readonly place: Wanted; readonly children: ComponentChildren }) {
  const query = String(new URLSearchParams([[place.kind, place.id]]));
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onGo(query);
  };
  return (
    <a href={`/console?${query}`} onClick={follow}>
      {children}
    </a>
  );
}
