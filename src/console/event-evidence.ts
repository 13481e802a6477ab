import type { RecordedEvent } from './recorded-event.js';
import { readBytes } from './session-reader.js';

/** Fetches the evidence of an event: a bundle, as a zip. @throws {Unanswered} */
export function readEvidence({ identity }: RecordedEvent): Promise<Uint8Array> {
  const version = identity.startsWith('events/') ? 'v1' : 'v2';
  return readBytes(`/archivist/${version}/${identity}/evidence`);
}

/** The name under which a reader keeps it. */
export const evidenceName = ({ identity }: RecordedEvent): string =>
  `${identity.slice(identity.lastIndexOf('/') + 1)}.zip`;
