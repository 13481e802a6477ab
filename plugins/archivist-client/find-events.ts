import type { EventAttributes } from '../operation/operation-event.js';
import type { AuthorizedCalls } from './authorized-calls.js';
import { DeliverLater } from './delivery-failure.js';

/** Events about a subject that are returned. */
const MOST_ABOUT = 100;
/** Bounds what somebody costs who shares many events about it. */
const MOST_PAGES = 50;
const WHAT = 'event look-up';

interface Page<Event> {
  readonly events?: readonly Event[];
  readonly next_page_token?: string;
}

interface FoundEvent {
  readonly tenant_identity?: string;
  readonly event_attributes?: EventAttributes;
}

/**
 * Attributes of the newest events about a subject that are of the client's own tenancy, on any of its assets that it may
 * see; at most 100. What other organisations share says nothing about what this one recorded.
 * @throws {DeliverLater} also when the token does not name the tenancy
 */
export async function eventsAbout(calls: AuthorizedCalls, subject: string): Promise<readonly EventAttributes[]> {
  const own = await calls.tenancy();
  if (own === undefined) throw new DeliverLater(`${WHAT}: the token does not name the tenancy`);
  const found: EventAttributes[] = [];
  const query = new URLSearchParams({ 'event_attributes.subject': subject, page_size: `${MOST_ABOUT}` });
  // A page of large events is shorter than its page_size.
  for (let pages = 0; pages < MOST_PAGES && found.length < MOST_ABOUT; pages++) {
    const page = await calls.answer<Page<FoundEvent>>({ what: WHAT, path: `/archivist/v2/assets/-/events?${query}` });
    for (const event of page.events ?? []) if (event.tenant_identity === own) found.push(event.event_attributes ?? {});
    if (!page.next_page_token) break;
    query.set('page_token', page.next_page_token);
  }
  return found.slice(0, MOST_ABOUT);
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
