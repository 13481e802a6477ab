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

/** Blob name of a massif, the number in 16 decimal digits. */
export function massifPath(tenancyUuid: string, massif: number): string {
  return blobPath('massif', tenancyUuid, massif);
}

/** Blob name of the newest seal of a massif. */
export function sealPath(tenancyUuid: string, massif: number): string {
  return blobPath('seal', tenancyUuid, massif);
}

/** The parts of a blob name; undefined when it is not exactly one that `massifPath` or `sealPath` makes. */
export function parseBlobPath(path: string): BlobPath | undefined {
  const match = BLOB_PATH.exec(path);
  const number = Number(match?.[2] ?? match?.[3]);
  if (!match || !Number.isSafeInteger(number)) return undefined;
  return { kind: match[2] ? 'massif' : 'seal', tenancyUuid: match[1]!, number };
}

/** Value of a massif's `firstindex` tag: its first node's index in 16 hex digits. */
export function firstIndexTag(firstNode: bigint): string {
  return firstNode.toString(16).padStart(16, '0');
}
