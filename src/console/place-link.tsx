import type { ComponentChildren } from 'preact';
import type { Wanted } from './conversation.js';
import { onService } from './service-path.js';

/** How a view leads to another place of the console. */
export interface PlaceLink {
  onGo(query: string): void;
}

interface QueryProps extends PlaceLink {
  /** What the address bar has after the question mark; empty for the search. */
  readonly query: string;
  readonly isCurrent?: boolean;
  /** What it is called where its surroundings are not seen, if not by its text. */
  readonly name?: string | undefined;
  readonly children: ComponentChildren;
}

/** A link that changes the address without loading the page again, so that files that the reader opened stay open. */
export function QueryAnchor({ query, isCurrent = false, name, onGo, children }: QueryProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onGo(query);
  };
  return (
    <a
      href={onService(query === '' ? '/console' : `/console?${query}`)}
      aria-current={isCurrent ? 'page' : undefined}
      aria-label={name}
      onClick={follow}
    >
      {children}
    </a>
  );
}

/** The link to a conversation, an asset or an event. */
export function PlaceAnchor({ place, ...link }: Omit<QueryProps, 'query' | 'isCurrent'> & { readonly place: Wanted }) {
  return <QueryAnchor query={queryOf(place)} {...link} />;
}

const queryOf = ({ kind, id, at }: Wanted): string =>
  String(new URLSearchParams([[kind, id], ...(at === undefined ? [] : [['at', at]])]));
