import { VerificationError } from '../core/errors.js';
import type { GivenTrust } from '../core/evidence/given-trust.js';
import type { Progress } from '../core/evidence/log-evidence.js';
import { UsageError } from '../core/evidence/usage-error.js';
import type { EvidenceVerdict } from '../core/evidence/verify-evidence.js';
import { type AssetEventDocument, readEventDocument } from '../core/statement/event-document.js';
import { parseUnambiguousJson } from '../core/statement/unambiguous-json.js';
import { createVerdict, type Findings, findingsOf, notCovered, verdictWithin } from '../core/verify/verdict.js';
import { type PublicEvent, verifyPublicAsset as verifyAssetOfEvents } from '../core/verify/verify-public-asset.js';
import type { ReceiptTrust } from '../core/verify/verify-receipt.js';
import { LogUnreachable, requireFile } from './monitor/fetch-file.js';

async function fetched(url: string): Promise<Uint8Array> {
  return requireFile(url).catch((error: unknown) => {
    throw error instanceof LogUnreachable ? new UsageError(error.message) : error;
  });
}

async function fetchedJson(url: string): Promise<Record<string, unknown>> {
  const value = parseUnambiguousJson(new TextDecoder().decode(await fetched(url)));
  if (typeof value !== 'object' || value === null) throw new UsageError(`${url} did not answer with a JSON object`);
  return value as Record<string, unknown>;
}

/** Limits for a server that never ends its list. */
const MOST_EVENTS = 100_000;
const MOST_PAGES = 10_000;

async function allEvents(url: string, progress: Progress): Promise<unknown[]> {
  const events: unknown[] = [];
  let token = '';
  let pages = 0;
  do {
    const query = token === '' ? '' : `?page_token=${encodeURIComponent(token)}`;
    const page = await fetchedJson(`${url}/events${query}`);
    if (!Array.isArray(page['events'])) throw new UsageError(`${url}/events has no list of events`);
    events.push(...(page['events'] as unknown[]));
    pages += 1;
    if (events.length > MOST_EVENTS || pages > MOST_PAGES)
      throw new UsageError(`${url}/events lists more than ${MOST_EVENTS} events or ${MOST_PAGES} pages`);
    token = typeof page['next_page_token'] === 'string' ? page['next_page_token'] : '';
    progress(`${events.length} events read`);
  } while (token !== '');
  return events;
}

async function withReceipt(event: AssetEventDocument, base: string): Promise<PublicEvent> {
  return { event, receipt: await fetched(`${base}/${event.identity.replace(/^publicassets\//, '')}/receipt`) };
}

/** Fetches a published asset with all of its events and their receipts, and checks it. @throws {UsageError} */
export async function verifyPublicAsset(url: string, trust: GivenTrust, progress: Progress): Promise<EvidenceVerdict> {
  const keys = { logKeys: await trust.logKeys(), log: trust.tenancyLog };
  return { verdict: createVerdict(await checkPublicAsset(url, keys, progress)), files: [{ file: url, kind: 'url' }] };
}

async function checkPublicAsset(url: string, trust: ReceiptTrust, progress: Progress): Promise<Partial<Findings>> {
  const address = url.replace(/[?#].*$/, '').replace(/\/+$/, '');
  const base = address.replace(/\/[^/]+$/, '');
  if (!base.endsWith('/publicassets'))
    throw new UsageError('the URL must name a public asset: <service>/archivist/v2/publicassets/<uuid>');
  const piece = `publicassets/${address.slice(base.length + 1)}`;
  return findingsOf(url, async () => {
    const { identity, attributes, ...others } = await fetchedJson(address);
    const listed = await allEvents(address, progress);
    if (identity !== piece && identity !== piece.replace(/^public/, ''))
      throw new VerificationError(
        'event_mismatch',
        `the service answered with the asset ${String(identity)}`,
        'identity',
      );
    const events: PublicEvent[] = [];
    for (const event of listed.map((each) => readEventDocument(each) as AssetEventDocument)) {
      events.push(await withReceipt(event, base));
      progress(`${events.length} of ${listed.length} receipts read`);
    }
    const verdict = await verifyAssetOfEvents({ identity: piece, attributes: attributesOf(attributes) }, events, trust);
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
