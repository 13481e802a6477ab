import { createHash } from 'node:crypto';
import { bencode } from '../../src/core/event/bencode.js';

const FIELDS = [
  'identity',
  'asset_identity',
  'event_attributes',
  'asset_attributes',
  'operation',
  'behaviour',
  'timestamp_declared',
  'timestamp_accepted',
  'timestamp_committed',
  'principal_accepted',
  'principal_declared',
  'confirmation_status',
  'from',
  'tenant_identity',
];

/**
 * What a client makes of an anchor's published query: pages through it by adding a page size and then a page token, as the
 * stock verifier does, and refuses what that refuses.
 */
export async function recomputedAnchor(query: string, token: string, pageSize: number) {
  const hash = createHash('sha256');
  let count = 0;
  for (let pageToken = ''; ; ) {
    const url = `${query}&page_size=${pageSize}${pageToken === '' ? '' : `&page_token=${encodeURIComponent(pageToken)}`}`;
    const response = await fetch(url, { headers: token === '' ? {} : { authorization: `Bearer ${token}` } });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    const page = (await response.json()) as { events: Record<string, unknown>[]; next_page_token: string };
    for (const event of page.events) {
      const missing = FIELDS.filter((field) => !Object.hasOwn(event, field));
      if (missing.length > 0) throw new Error(`missing ${missing.join(', ')}`);
      if (!['FAILED', 'CONFIRMED'].includes(String(event['confirmation_status']))) throw new Error('pending');
      hash.update(bencode(Object.fromEntries(FIELDS.map((field) => [field, event[field]]))));
      count += 1;
    }
    pageToken = page.next_page_token;
    if (!pageToken) return { hash: hash.digest('hex'), count };
  }
}
