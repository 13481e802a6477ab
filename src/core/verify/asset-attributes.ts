import { equalBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { bencode } from '../event/bencode.js';
import type { AssetEventDocument } from '../statement/event-document.js';

/** What an asset says of itself, and its events do not. */
export function mismatch(why: string): VerificationError {
  return new VerificationError('event_mismatch', why);
}

/** Returns when an event was accepted, in Unix milliseconds. The log covers the event's own text of it. */
export function acceptedAt({ timestamp_accepted }: AssetEventDocument): number {
  const time = Date.parse(timestamp_accepted);
  if (Number.isNaN(time)) throw mismatch('timestamp_accepted is no time');
  return time;
}

/** The values that an attribute may have now: of the last event that set it, or of any of those within one tick. */
function lastValues(name: string, events: readonly AssetEventDocument[]): unknown[] {
  const setters = events.filter(({ asset_attributes: set }) => set && Object.hasOwn(set, name));
  const newest = setters.reduce((latest, event) => Math.max(latest, acceptedAt(event)), -Infinity);
  return setters.filter((event) => acceptedAt(event) === newest).map((event) => event.asset_attributes![name]);
}

function encoded(value: unknown): Uint8Array {
  try {
    if (hasNull(value)) throw new TypeError('null is not allowed as a value');
    return bencode(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw mismatch(`no event makes such attributes: ${error.message}`);
  }
}

/** Bencode leaves nulls out: one that is added would change nothing of what is compared. */
function hasNull(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.values(value as object).some(hasNull));
}

/**
 * Checks that each attribute of an asset has the value that the last event gave it.
 * @param events all events of the asset, in any order; the caller must check that they are proven
 * @throws {VerificationError} `event_mismatch`
 */
export function checkAssetAttributes(
  attributes: Readonly<Record<string, unknown>>,
  events: readonly AssetEventDocument[],
): void {
  const names = new Set([
    ...Object.keys(attributes),
    ...events.flatMap(({ asset_attributes: set }) => Object.keys(set ?? {})),
  ]);
  for (const name of names) {
    const shown = Object.hasOwn(attributes, name) ? encoded(attributes[name]) : undefined;
    if (!shown || !lastValues(name, events).some((value) => equalBytes(encoded(value), shown)))
      throw mismatch(`the attribute ${name} of the asset is not what its events made of it`);
  }
}
