import { CONSOLE_TEXTS } from './console-texts.js';
import { type PlaceLink, QueryAnchor } from './place-link.js';

/** A page of the console, by the name that the address bar has for it. */
export type View = keyof typeof CONSOLE_TEXTS.views;

/** What everybody may see; the other views are for Owners. */
const FOR_ALL: readonly View[] = ['find', 'compliance'];
const VIEWS = Object.keys(CONSOLE_TEXTS.views) as readonly View[];

/** The views of a reader. */
export const viewsFor = (isOwner: boolean): readonly View[] => (isOwner ? VIEWS : FOR_ALL);

/** The view that the address asks for; the search where it asks for none, or for one that there is not. */
export function viewOf(parameters: URLSearchParams): View {
  const name = parameters.get('view') ?? '';
  return Object.hasOwn(CONSOLE_TEXTS.views, name) ? (name as View) : 'find';
}

const queryOf = (view: View): string => (view === 'find' ? '' : String(new URLSearchParams([['view', view]])));

/** The pages of the console; all of them keep what the reader has dropped. */
export function Navigation({
  views,
  current,
  onGo,
}: PlaceLink & { readonly views: readonly View[]; readonly current: View }) {
  return (
    <nav class="views" aria-label={CONSOLE_TEXTS.pages}>
      <ul>
        {views.map((view) => (
          <li key={view}>
            <QueryAnchor query={queryOf(view)} isCurrent={view === current} onGo={onGo}>
              {CONSOLE_TEXTS.views[view]}
            </QueryAnchor>
          </li>
        ))}
      </ul>
    </nav>
  );
}
