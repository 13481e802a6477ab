import type { RecordedEvent } from './recorded-event.js';
import { readBytes } from './session-reader.js';

/**
 * Fetches the evidence of an event: a bundle, as a zip.
 * @param without `page` for a check in this page: the bundle's own page is most of a small bundle
 * @throws {Unanswered}
 */
export function readEvidence({ identity }: RecordedEvent, without?: 'page'): Promise<Uint8Array> {
  const version = identity.startsWith('events/') ? 'v1' : 'v2';
  return readBytes(`/archivist/${version}/${identity}/evidence${without ? `?without=${without}` : ''}`);
}

/** The name under which a reader keeps it. */
export const evidenceName = ({ identity }: RecordedEvent): string =>
  `${identity.slice(identity.lastIndexOf('/') + 1)}.zip`;
