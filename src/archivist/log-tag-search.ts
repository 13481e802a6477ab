import { firstIndexTag, massifPath, sealPath } from '../core/massif/blob-paths.js';
import { EPOCH, idtimestampHex, parseIdtimestampHex } from '../core/massif/idtimestamp.js';
import { firstNode, leavesPerMassif } from '../core/massif/massif-layout.js';
import { type LogTail, logTails } from '../ledger/log-tails-store.js';
import { ApiError } from '../platform/errors.js';
import type { Database, Tx } from '../platform/postgres/database.js';
import { uuidSchema } from '../platform/uuid-schema.js';

/** Logs in one answer; the rest follow with the marker. */
const PAGE = 500;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
const CONTAINER = 'merklelogs';
const LAST_ID = /^"lastid"\s*>=\s*'([0-9a-f]{18})'$/;

interface TagSearchDeps {
  readonly database: Database;
  readonly publicUrl: string;
}

/** A watcher's query: logs with a leaf that is not older than this, starting at a marker. */
interface TagSearch {
  readonly where: string;
  readonly marker?: string | undefined;
}

/**
 * Parses the one filter that watchers send; conditions that always hold are accepted beside it. @throws {ApiError}
 * bad_request
 */
function sinceOf(where: string): bigint {
  let since = 0n;
  for (const term of where.split(/\s+AND\s+/i).map((each) => each.trim())) {
    const [, text] = LAST_ID.exec(term) ?? [];
    if (text !== undefined) {
      const { epoch, id } = parseIdtimestampHex(text);
      since = epoch < EPOCH ? 0n : epoch > EPOCH ? 0xffffffffffffffffn : id;
    } else if (term !== `@container='${CONTAINER}'`)
      throw new ApiError(
        'bad_request',
        `where: must be "lastid">='<18 hex digits>', @container='${CONTAINER}', or both joined by AND`,
      );
  }
  return since;
}

/**
 * Returns the heads of all published logs as the answer to a search of blobs by tags, which is how the stock verifier
 * watches logs (docs/design/interface.md#existing-clients): XML with name and tags of each newest massif and its seal.
 * @throws {ApiError} bad_request for any other filter
 */
export async function searchLogTags(
  { database, publicUrl }: TagSearchDeps,
  { where, marker }: TagSearch,
  visible: (tenantId: string) => boolean,
): Promise<string> {
  const since = sinceOf(where);
  const afterLog = marker ? uuidSchema.safeParse(marker).data : BEFORE_ALL;
  if (afterLog === undefined) throw new ApiError('bad_request', 'marker: must be a NextMarker of an earlier answer');
  const tails = await database.inTransaction('system', (tx: Tx) => logTails(tx, { since, afterLog, limit: PAGE }));
  const blobs = tails.filter(({ tenantId }) => visible(tenantId)).flatMap(headBlobs);
  const next = tails.length === PAGE ? tails.at(-1)!.tenantId : '';
  return answer(publicUrl, where, blobs, next);
}

interface TaggedBlob {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
}

function headBlobs({ logId, massifHeight, leaves, lastIdtimestamp }: LogTail): TaggedBlob[] {
  const massif = Number((leaves - 1n) / BigInt(leavesPerMassif(massifHeight)));
  const lastid = idtimestampHex(lastIdtimestamp);
  return [
    { name: massifPath(logId, massif), tags: { firstindex: firstIndexTag(firstNode(massifHeight, massif)), lastid } },
    { name: sealPath(logId, massif), tags: { lastid } },
  ];
}

function answer(publicUrl: string, where: string, blobs: readonly TaggedBlob[], next: string): string {
  const endpoint = escaped(`${publicUrl}/verifiabledata/`);
  return (
    `<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="${endpoint}"><Where>${escaped(where)}</Where>` +
    `<Blobs>${blobs.map(blobElement).join('')}</Blobs><NextMarker>${next}</NextMarker></EnumerationResults>`
  );
}

function blobElement({ name, tags }: TaggedBlob): string {
  const members = Object.entries(tags).map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`);
  return `<Blob><Name>${name}</Name><ContainerName>${CONTAINER}</ContainerName><Tags><TagSet>${members.join('')}</TagSet></Tags></Blob>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
