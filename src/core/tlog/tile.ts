/** Hashes in a full tile, and entries in a full bundle (C2SP tlog-tiles). */
export const TILE_WIDTH = 256;

/** One tile: hashes of a level, or with `entries` the entries under level 0. */
interface TileName {
  readonly level: number | 'entries';
  readonly index: bigint;
  /** 1…256; a tile of fewer than 256 hashes is partial. */
  readonly width: number;
}

const PATH = /^(entries|0|[1-9]\d?)\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;
const MOST_LEVEL = 63;

/** Returns the path of a tile: `<level>/<index in groups of three digits>[.p/<width>]`. */
export function tilePath({ level, index, width }: TileName): string {
  const digits = index.toString();
  const padded = digits.padStart(3 * Math.ceil(digits.length / 3), '0');
  const groups = padded.match(/\d{3}/g)!;
  const number = groups.map((group, place) => (place < groups.length - 1 ? `x${group}` : group)).join('/');
  return `${level}/${number}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

/** Returns the tile that a path names; undefined if `tilePath` would not write exactly this path. */
export function parseTilePath(path: string): TileName | undefined {
  const [, level, number, partial] = PATH.exec(path) ?? [];
  if (level === undefined || path.length > 64) return undefined;
  const index = BigInt(number!.replace(/[x/]/g, ''));
  const width = partial === undefined ? TILE_WIDTH : Number(partial);
  const name: TileName = { level: level === 'entries' ? level : Number(level), index, width };
  const canonical = tilePath(name) === path && width <= TILE_WIDTH && !(partial !== undefined && width === TILE_WIDTH);
  return canonical && (name.level === 'entries' || name.level <= MOST_LEVEL) ? name : undefined;
}

/**
 * Returns the number of hashes at a level of a log with `size` entries: one for each complete subtree of 256^level
 * entries.
 */
export function hashesAtLevel(size: bigint, level: number): bigint {
  return size >> (8n * BigInt(level));
}
