import { followGrowth } from '../../ledger/log-growth.js';
import type { Feature } from '../../platform/feature.js';
import type { Announcements } from '../../platform/postgres/announcements.js';
import { eventStreamRoutes } from './event-stream-routes.js';
import { createEventStreams, type EventStreamDeps } from './stream-events.js';

type EventStreamBase = Omit<EventStreamDeps, 'growth'> & { readonly announcements: Announcements };

/** The stream of a tenancy's events as they are published. */
export function openEventStream(base: EventStreamBase): Feature {
  const growth = followGrowth(base);
  return {
    routes: { 'v1/events': eventStreamRoutes(createEventStreams({ ...base, growth })) },
    endResponses: () => growth.close(),
  };
}
