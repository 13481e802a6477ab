/** What a blob name of a log says. */
export interface BlobPath {
  readonly kind: 'massif' | 'seal';
  readonly tenancyUuid: string;
  readonly number: number;
}

const FOLDERS = { massif: 'massifs', seal: 'massifseals' } as const;
const ENDINGS = { massif: 'log', seal: 'sth' } as const;
const BLOB_PATH =
  /^v1\/mmrs\/tenant\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/0\/(?:massifs\/(\d{16})\.log|massifseals\/(\d{16})\.sth)$/;

function blobPath(kind: BlobPath['kind'], tenancyUuid: string, number: number): string {
  return `v1/mmrs/tenant/${tenancyUuid}/0/${FOLDERS[kind]}/${String(number).padStart(16, '0')}.${ENDINGS[kind]}`;
}

/** Returns the blob name of a massif, with its number in 16 decimal digits. */
export function massifPath(tenancyUuid: string, massif: number): string {
  return blobPath('massif', tenancyUuid, massif);
}

/** Returns the blob name of the newest seal of a massif. */
export function sealPath(tenancyUuid: string, massif: number): string {
  return blobPath('seal', tenancyUuid, massif);
}

/** Returns the parts of a blob name; undefined if `massifPath` or `sealPath` would not write exactly this name. */
export function parseBlobPath(path: string): BlobPath | undefined {
  const match = BLOB_PATH.exec(path);
  const number = Number(match?.[2] ?? match?.[3]);
  if (!match || !Number.isSafeInteger(number)) return undefined;
  return { kind: match[2] ? 'massif' : 'seal', tenancyUuid: match[1]!, number };
}

/** Returns the value of a massif's `firstindex` tag: the index of its first node in 16 hex digits. */
export function firstIndexTag(firstNode: bigint): string {
  return firstNode.toString(16).padStart(16, '0');
}
