import type { EventAttributes } from '../operation/operation-event.js';
import type { AuthorizedCalls } from './authorized-calls.js';

/** Events about a subject that are read. */
const MOST_ABOUT = 100;
const WHAT = 'event look-up';

interface Page<Event> {
  readonly events?: readonly Event[];
  readonly next_page_token?: string;
}

/** Attributes of the newest events about a subject, on any asset that this client can see; at most 100. */
export async function eventsAbout(calls: AuthorizedCalls, subject: string): Promise<readonly EventAttributes[]> {
  const found: EventAttributes[] = [];
  // A page of large events is shorter than its page_size.
  for (let next = ''; ; ) {
    const pageSize = `${MOST_ABOUT - found.length}`;
    const query = new URLSearchParams({ 'event_attributes.subject': subject, page_size: pageSize });
    if (next !== '') query.set('page_token', next);
    const page = await calls.answer<Page<{ event_attributes?: EventAttributes }>>({
      what: WHAT,
      path: `/archivist/v2/assets/-/events?${query}`,
    });
    found.push(...(page.events ?? []).map(({ event_attributes }) => event_attributes ?? {}));
    next = page.next_page_token ?? '';
    if (next === '' || found.length >= MOST_ABOUT) return found;
  }
}

/** Identity of an event of the asset with all these attributes. */
export async function findEvent(
  calls: AuthorizedCalls,
  assetIdentity: string,
  attributes: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const query = new URLSearchParams({ page_size: '1' });
  for (const [name, value] of Object.entries(attributes)) query.set(`event_attributes.${name}`, value);
  const first = `/archivist/v2/${assetIdentity}/events?${query}`;
  // A page can be empty before the end of the list.
  for (let path = first; ; ) {
    const { events, next_page_token: next } = await calls.answer<Page<{ identity: string }>>({ what: WHAT, path });
    if (events?.[0] || !next) return events?.[0]?.identity;
    path = `${first}&page_token=${encodeURIComponent(next)}`;
  }
}
