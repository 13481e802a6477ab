import type { ComponentChildren } from 'preact';
import type { Wanted } from './conversation.js';

/** How a view leads to another place of the console. */
export interface PlaceLink {
  onGo(query: string): void;
}

interface QueryProps extends PlaceLink {
  /** What the address bar has after the question mark; empty for the search. */
  readonly query: string;
  readonly isCurrent?: boolean;
  readonly children: ComponentChildren;
}

/** A link that keeps the page, so that a file of the reader stays. A new tab opens it as any link. */
export function QueryAnchor({ query, isCurrent = false, onGo, children }: QueryProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onGo(query);
  };
  return (
    <a
      href={query === '' ? '/console' : `/console?${query}`}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={follow}
    >
      {children}
    </a>
  );
}

/** The link to a conversation, an asset or an event. */
export function PlaceAnchor({
  place,
  onGo,
  children,
}: PlaceLink & { readonly place: Wanted; readonly children: ComponentChildren }) {
  return (
    <QueryAnchor query={queryOf(place)} onGo={onGo}>
      {children}
    </QueryAnchor>
  );
}

const queryOf = ({ kind, id, at }: Wanted): string =>
  String(new URLSearchParams([[kind, id], ...(at === undefined ? [] : [['at', at]])]));
