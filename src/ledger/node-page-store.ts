import { concatBytes } from '../core/bytes.js';
import type { NodeAt } from '../core/mmr/node-at.js';
import { selected, table } from '../platform/postgres/columns.js';
import type { SqlStatement, Tx } from '../platform/postgres/database.js';
import { insertsOf } from '../platform/postgres/insert-rows.js';
import { affectsExactly } from './exact-rows-store.js';
import type { LogRef } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';

const NODES_A_PAGE = 32n;
const NODE_BYTES = 32;
const NO_NODES = new Uint8Array(0);

interface PageRow {
  page: bigint;
  nodes: Uint8Array;
}

const PAGE = table('node_page').columns<PageRow & LogRef>({
  tenantId: 'tenant_id',
  logId: 'log_id',
  page: 'page',
  nodes: 'nodes',
});

/** The page of the node with this index; with a log's size, the page of its next node. */
export const pageOf = (index: bigint): bigint => index / NODES_A_PAGE;

/** Loads these nodes in one query. @throws {LogInconsistent} when one is missing */
export async function readNodes(tx: Tx, log: LogRef, indices: readonly bigint[]): Promise<NodeAt> {
  const places = new Map<bigint, number>();
  for (const index of indices) if (!places.has(index)) places.set(index, places.size);
  const node = await readNodeList(tx, log, [...places.keys()]);
  return (index) => {
    const place = places.get(index);
    if (place === undefined) throw new RangeError(`node ${index} was not read`);
    return node(place);
  };
}

/**
 * The nodes of a log ($1, $2) with the indexes of a list of the name `wanted`, as one value: not their pages. One subquery
 * per node keeps the planner from sorting the whole table for a join.
 */
export const WANTED_NODES = `string_agg((
              SELECT substring(nodes FROM ${NODE_BYTES} * (index % ${NODES_A_PAGE})::int + 1 FOR ${NODE_BYTES})
                FROM archivist.node_page
               WHERE tenant_id = $1 AND log_id = $2 AND page = index / ${NODES_A_PAGE}
            ), ''::bytea ORDER BY place)`;

/**
 * Loads nodes in one query and returns them by their index in the list.
 */
export async function readNodeList(
  tx: Tx,
  log: LogRef,
  indices: readonly bigint[],
): Promise<(place: number) => Uint8Array> {
  const [row] = await tx.query<{ nodes: Uint8Array | null }>(
    `SELECT ${WANTED_NODES} AS nodes FROM unnest($3::bigint[]) WITH ORDINALITY AS wanted(index, place)`,
    [log.tenantId, log.logId, bigintArray(indices)],
  );
  const { buffer, byteOffset, length } = row?.nodes ?? NO_NODES;
  if (length !== indices.length * NODE_BYTES)
    throw new LogInconsistent(`of ${indices.length} nodes ${length / NODE_BYTES} are stored`);
  // Views are created on use: thousands of unused ones would be moved by every garbage collection.
  return (place) => new Uint8Array(buffer, byteOffset + place * NODE_BYTES, NODE_BYTES);
}

/** A parameter; the driver would quote and escape every number. */
export function bigintArray(numbers: readonly bigint[]): string {
  return `{${numbers.join(',')}}`;
}

/** Nodes `from` (included) to `to` (excluded). @throws {LogInconsistent} when one is missing */
export async function readNodeRange(tx: Tx, log: LogRef, from: bigint, to: bigint): Promise<Uint8Array[]> {
  if (from >= to) return [];
  const rows = await tx.query<PageRow>(
    `SELECT ${selected(PAGE, 'p', ['page', 'nodes'])} FROM archivist.node_page p
      WHERE p.tenant_id = $1 AND p.log_id = $2 AND p.page BETWEEN $3 AND $4`,
    [log.tenantId, log.logId, pageOf(from), pageOf(to - 1n)],
  );
  const pages = new Map(rows.map(({ page, nodes }) => [page, nodes]));
  return Array.from({ length: Number(to - from) }, (_, offset) => {
    const index = from + BigInt(offset);
    const start = Number(index % NODES_A_PAGE) * NODE_BYTES;
    const node = pages.get(pageOf(index))?.subarray(start, start + NODE_BYTES);
    if (node?.length !== NODE_BYTES) throw new LogInconsistent(`node ${index} is not stored`);
    return node;
  });
}

/** The nodes of the last page of a log of this size, if the page is not full; at most 31. */
export function readOpenPage(tx: Tx, log: LogRef, size: bigint): Promise<Uint8Array[]> {
  return readNodeRange(tx, log, size - (size % NODES_A_PAGE), size);
}

/** The part of these nodes, the last of a log of this size, that is on a page which is not full. */
export function openPageOf(size: bigint, nodes: readonly Uint8Array[]): readonly Uint8Array[] {
  const begun = Number(size % NODES_A_PAGE);
  return begun === 0 ? [] : nodes.slice(-begun);
}

/** Stores new nodes, the first of which has index `size`: a partly filled page, whose nodes are given, is rewritten. */
export function appendNodes(
  log: LogRef,
  size: bigint,
  openPage: readonly Uint8Array[],
  nodes: readonly Uint8Array[],
): SqlStatement[] {
  const all = [...openPage, ...nodes];
  const pages = Array.from({ length: Math.ceil(all.length / Number(NODES_A_PAGE)) }, (_, offset) => ({
    page: pageOf(size) + BigInt(offset),
    nodes: concatBytes(...all.slice(offset * Number(NODES_A_PAGE), (offset + 1) * Number(NODES_A_PAGE))),
  }));
  const rewritten = openPage.length > 0 ? [rewritePage(log, pages.shift()!)] : [];
  const { tenantId, logId } = log;
  return [
    ...rewritten,
    ...insertsOf(
      PAGE,
      pages.map((page) => ({ ...page, tenantId, logId })),
    ),
  ];
}

function rewritePage(log: LogRef, { page, nodes }: PageRow): SqlStatement {
  return affectsExactly(
    1,
    () => new LogInconsistent(`page ${page} is not stored`),
    `UPDATE archivist.node_page SET ${PAGE.of.nodes} = $4
      WHERE ${PAGE.of.tenantId} = $1 AND ${PAGE.of.logId} = $2 AND ${PAGE.of.page} = $3`,
    [log.tenantId, log.logId, page, nodes],
  );
}
