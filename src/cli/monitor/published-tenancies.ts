import { LogUnreachable, requireFile } from './fetch-file.js';

const MASSIF_NAME = /<Name>v1\/mmrs\/tenant\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/0\/massifs\//g;
const NEXT_MARKER = /<NextMarker>([0-9A-Za-z-]{1,64})<\/NextMarker>/;
const MOST_PAGES = 1000;

/** Fetches the tenancies whose logs a service publishes. @throws {LogUnreachable} if there are too many pages */
export async function publishedTenancies(url: string): Promise<string[]> {
  const where = encodeURIComponent(`"lastid">='${'0'.repeat(18)}'`);
  const tenancies = new Set<string>();
  let marker = '';
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const next = marker === '' ? '' : `&marker=${marker}`;
    const xml = new TextDecoder().decode(await requireFile(`${url}/verifiabledata/?comp=blobs&where=${where}${next}`));
    for (const [, tenancy] of xml.matchAll(MASSIF_NAME)) tenancies.add(tenancy!);
    marker = NEXT_MARKER.exec(xml)?.[1] ?? '';
    if (marker === '') return [...tenancies];
  }
  throw new LogUnreachable(`${url} lists its logs on more than ${MOST_PAGES} pages`);
}
