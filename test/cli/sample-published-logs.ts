import { sign } from 'node:crypto';
import { concatBytes, fromBase64, utf8 } from '../../src/core/bytes.js';
import { generationName } from '../../src/core/fork/log-generation.js';
import { appendLeaves } from '../../src/core/mmr/append-leaves.js';
import { rfc9162LeafWith } from '../../src/core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../src/core/rfc9162/rfc9162-parent.js';
import { rfc9162Root } from '../../src/core/rfc9162/rfc9162-root.js';
import { encodeCheckpoint } from '../../src/core/tlog/checkpoint.js';
import { encodeNote, NoteKeyType, signatureLine } from '../../src/core/tlog/signed-note.js';
import { parseTilePath, TILE_WIDTH } from '../../src/core/tlog/tile.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import { nodeSha256 } from '../../src/platform/node-sha256.js';
import { flipBit } from '../core/massif/sample-log.js';
import type { SampleSealedLog } from '../core/verify/sample-sealed-log.js';
import { SAMPLE_TENANCY } from '../core/verify/sample-transparent-statement.js';

/** What a server has under a path. */
export type Answer = (path: string) => Promise<Uint8Array | string | undefined> | Uint8Array | string | undefined;

/** The files of a tenancy log when it had so many leaves, and the list that names it, as a service publishes them. */
export function publishedTenancyLog(
  of: SampleSealedLog,
  leaves: number,
  change: (file: Uint8Array) => Uint8Array = (f) => f,
): Answer {
  return async (path) => {
    if (path.startsWith('/verifiabledata/?comp=blobs'))
      return `<Blob><Name>v1/mmrs/tenant/${SAMPLE_TENANCY}/0/massifs/0000000000000000.log</Name></Blob>`;
    const [, kind, number] = /0\/(massifs|massifseals)\/(\d{16})\.(?:log|sth)$/.exec(path) ?? [];
    const massif = Number(number);
    if (kind === undefined || massif * 4 >= leaves) return undefined;
    const held = Math.min(leaves, massif * 4 + 4);
    return kind === 'massifs' ? change(of.massif(massif, held)) : of.seal(held);
  };
}

/** Lies about a statement log. */
export interface Lies {
  readonly lyingBundle?: boolean | undefined;
  readonly otherOrigin?: boolean | undefined;
  readonly lyingTile?: boolean | undefined;
}

/** How a statement log is shown. */
interface Shown extends Lies {
  /** How often it was forked openly. */
  readonly generation?: number;
}

const leafOf = rfc9162LeafWith(nodeSha256);

/** A statement log with a key of its own, which publishes any entries. */
export function sampleStatementLog(origin: string) {
  const { publicKey, privateKey } = newKeyPair({ type: 'ed25519' });
  const key = {
    name: origin,
    type: NoteKeyType.ed25519,
    publicKey: fromBase64(publicKey.export({ format: 'jwk' }).x!),
  };
  const rootOf = (leaves: readonly Uint8Array[]) => rfc9162Root(appendLeaves(rfc9162Parent, 0n, [], leaves).peaks);
  function published(entries: readonly Uint8Array[], shown: Shown = {}): Answer {
    const { lyingBundle, otherOrigin, lyingTile, generation = 0 } = shown;
    const ownName = generationName({ base: origin, generation });
    const leaves = entries.map(leafOf);
    return (path) => {
      if (path.endsWith('/checkpoint')) {
        const name = otherOrigin ? 'log/other' : ownName;
        const text = encodeCheckpoint({ origin: name, size: BigInt(entries.length), root: rootOf(leaves) });
        return encodeNote(text, [
          signatureLine({ ...key, name: ownName }, new Uint8Array(sign(null, utf8(text), privateKey))),
        ]);
      }
      const name = parseTilePath(path.replace(/^.*\/tile\//, ''));
      if (!name) return undefined;
      const first = Number(name.index) * TILE_WIDTH;
      if (name.level === 1) {
        const tiles = Array.from({ length: name.width }, (_, tile) =>
          leaves.slice(TILE_WIDTH * tile, TILE_WIDTH * (tile + 1)),
        );
        return concatBytes(...tiles.map(rootOf));
      }
      if (first + name.width > entries.length) return undefined;
      if (name.level === 0) {
        const tile = concatBytes(...leaves.slice(first, first + name.width));
        return lyingTile ? flipBit(tile, tile.length - 1) : tile;
      }
      const bundled = entries.slice(first, first + name.width).map((each) => (lyingBundle ? utf8('a lie') : each));
      return concatBytes(...bundled.flatMap((each) => [Uint8Array.of(each.length >> 8, each.length & 0xff), each]));
    };
  }
  return { key, published, rootOf: (entries: readonly Uint8Array[]) => rootOf(entries.map(leafOf)) };
}
