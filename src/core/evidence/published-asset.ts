import { VerificationError } from '../errors.js';
import { type AssetEventDocument, readEventDocument } from '../statement/event-document.js';
import { parseUnambiguousBytes } from '../vcon/unambiguous-json.js';
import { createVerdict, type Findings, findingsOf, notCovered, verdictWithin } from '../verify/verdict.js';
import { type PublicEvent, verifyPublicAsset } from '../verify/verify-public-asset.js';
import type { ReceiptTrust } from '../verify/verify-receipt.js';
import type { GivenTrust } from './given-trust.js';
import type { Progress } from './log-evidence.js';
import { UsageError } from './usage-error.js';
import type { EvidenceVerdict } from './verify-evidence.js';

/** Reads a URL of the service. @throws {UsageError} when it does not answer */
type ReadUrl = (url: string) => Promise<Uint8Array>;

/** Reads a JSON object of the service. @throws {UsageError} */
export async function readObject(url: string, read: ReadUrl): Promise<Record<string, unknown>> {
  const value = parseUnambiguousBytes(await read(url));
  if (typeof value !== 'object' || value === null) throw new UsageError(`${url} did not answer with a JSON object`);
  return value as Record<string, unknown>;
}

/** Limits for a server that never ends its list. */
const MOST_EVENTS = 100_000;
const MOST_PAGES = 10_000;

/** Returns every event of a public asset, newest first. @throws {UsageError} */
export async function publishedEvents(url: string, read: ReadUrl, progress: Progress): Promise<unknown[]> {
  const events: unknown[] = [];
  let token = '';
  let pages = 0;
  do {
    const query = token === '' ? '' : `?page_token=${encodeURIComponent(token)}`;
    const page = await readObject(`${url}/events${query}`, read);
    if (!Array.isArray(page['events'])) throw new UsageError(`${url}/events has no list of events`);
    for (const event of page['events'] as unknown[]) events.push(event);
    pages += 1;
    if (events.length > MOST_EVENTS || pages > MOST_PAGES)
      throw new UsageError(`${url}/events lists more than ${MOST_EVENTS} events or ${MOST_PAGES} pages`);
    token = typeof page['next_page_token'] === 'string' ? page['next_page_token'] : '';
    progress(`${events.length} events read`);
  } while (token !== '');
  return events;
}

async function withReceipt(event: AssetEventDocument, base: string, read: ReadUrl): Promise<PublicEvent> {
  return { event, receipt: await read(`${base}/${event.identity.replace(/^publicassets\//, '')}/receipt`) };
}

function assetAddress(url: string): { readonly address: string; readonly base: string } {
  const address = url.replace(/[?#].*$/, '').replace(/\/+$/, '');
  const base = address.replace(/\/[^/]+$/, '');
  if (!base.endsWith('/publicassets'))
    throw new UsageError('the URL must name a public asset: <service>/archivist/v2/publicassets/<uuid>');
  return { address, base };
}

/** Checks that a URL names a public asset, and that the service answers with it. @throws {UsageError} */
export async function requirePublishedAsset(url: string, read: ReadUrl): Promise<void> {
  await read(assetAddress(url).address);
}

/**
 * Reads a published asset with all of its events and their receipts, and checks it.
 * @param url `<service>/archivist/v2/publicassets/<uuid>`
 * @throws {UsageError}
 */
export async function verifyPublishedAsset(
  url: string,
  read: ReadUrl,
  trust: GivenTrust,
  progress: Progress,
): Promise<EvidenceVerdict> {
  const { verifySignature, tenancyLog: log } = trust;
  const keys = { logKeys: await trust.logKeys(), log, verifySignature };
  const found = await checkPublicAsset(url, read, keys, progress);
  return { verdict: createVerdict(found), files: [{ file: url, kind: 'url' }] };
}

async function checkPublicAsset(
  url: string,
  read: ReadUrl,
  trust: ReceiptTrust,
  progress: Progress,
): Promise<Partial<Findings>> {
  const { address, base } = assetAddress(url);
  const piece = `publicassets/${address.slice(base.length + 1)}`;
  return findingsOf(url, async () => {
    const { identity, attributes, ...others } = await readObject(address, read);
    const listed = await publishedEvents(address, read, progress);
    if (identity !== piece && identity !== piece.replace(/^public/, ''))
      throw new VerificationError(
        'event_mismatch',
        `the service answered with the asset ${JSON.stringify(identity)}`,
        'identity',
      );
    const events: PublicEvent[] = [];
    for (const event of listed.map((each) => readEventDocument(each) as AssetEventDocument)) {
      events.push(await withReceipt(event, base, read));
      progress(`${events.length} of ${listed.length} receipts read`);
    }
    const verdict = await verifyPublicAsset({ identity: piece, attributes: attributesOf(attributes) }, events, trust);
    const open = notCovered(
      'public_asset',
      'by_design',
      'no log covers these members of an asset',
      Object.keys(others),
    );
    return verdictWithin(url, createVerdict(verdict, open));
  });
}

function attributesOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new VerificationError('malformed', 'the asset has no attributes');
  return value as Record<string, unknown>;
}
