import { z } from 'zod';
import { permits } from '../../iam/access/permits.js';
import { walletAddresses } from '../../iam/tenancies/tenancy-store.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import type { Tx } from '../../platform/postgres/database.js';
import { merklelogCommit, merklelogCommitSchema } from '../confirmation.js';
import type { AssetEvent } from '../events/asset-event.js';
import { type EventTransaction, transactionsOfEvents } from '../events/event-transaction-store.js';
import { commitOf, type EventAddress, requireAssetEvent, requirePublicEvent } from '../events/read-asset-events.js';
import { dataOf, hexData } from '../quantity.js';
import { type ReadDeps, readByIdScope } from '../read-scope.js';
import { simpleHashDetails, simpleHashDetailsSchema } from './anchor.js';
import { findAnchor } from './anchor-store.js';
import { blockResponse } from './block.js';
import { readChainFork } from './chain-fork.js';
import { findBlockAfter, findBlockByHash, findBlockByNumber, findHead, findTransaction } from './chain-store.js';
import { nodeResponse } from './node.js';
import { transactionResponse, transactionSchema } from './transaction.js';

export interface ReadChainDeps extends ReadDeps {
  readonly publicUrl: string;
  readonly keyring: Pick<Keyring, 'chain'>;
}

/**
 * How a block is selected: by exactly one of its hash and its number (decimal or hex text, or `latest`). The original's
 * clients send `public` too, which chose between its two chains; here there is one.
 */
export const blockQuerySchema = z.strictObject({
  hash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex characters')
    .optional(),
  number: z
    .string()
    .regex(/^(latest|0x[0-9a-fA-F]{1,15}|\d{1,18})$/, 'must be latest or a number, decimal or hex after 0x')
    .optional(),
  public: z
    .string()
    .regex(/^(true|false)?$/i, 'must be true or false')
    .optional(),
});

/** @throws {ApiError} forbidden */
export function readNode(deps: ReadChainDeps, principal: Principal): Promise<ReturnType<typeof nodeResponse>> {
  requireReader(principal);
  const chain = deps.deployment.deploymentTenancy;
  return deps.database.inTransaction(readByIdScope(deps.deployment, principal.tenantId), async (tx) => {
    const head = await findHead(tx, chain);
    const first = await findBlockByNumber(tx, chain, 0n);
    if (!head || !first) throw new ApiError('not_found', 'The chain has no block yet.');
    return nodeResponse(chain, deps.keyring.chain, { first, head });
  });
}

/** @throws {ApiError} bad_request unless exactly one of hash and number is given, not_found, forbidden */
export function readBlock(
  deps: ReadChainDeps,
  principal: Principal,
  { hash, number }: z.infer<typeof blockQuerySchema>,
): Promise<ReturnType<typeof blockResponse>> {
  requireReader(principal);
  if ((hash === undefined) === (number === undefined))
    throw new ApiError('bad_request', 'hash, number: send exactly one of them');
  const chain = deps.deployment.deploymentTenancy;
  return deps.database.inTransaction(readByIdScope(deps.deployment, principal.tenantId), async (tx) => {
    const block =
      hash === undefined ? await blockByNumber(tx, chain, number!) : await findBlockByHash(tx, chain, dataOf(hash));
    if (!block) throw new ApiError('not_found', 'There is no such block.');
    return blockResponse(block);
  });
}

/** @throws {ApiError} not_found for a block that was lost */
async function blockByNumber(tx: Tx, chain: string, number: string) {
  if (number === 'latest') return findHead(tx, chain);
  const block = await findBlockByNumber(tx, chain, BigInt(number));
  if (!block) await explainLostBlock(tx, chain, BigInt(number));
  return block;
}

/** @throws {ApiError} not_found if a later block says that this one was lost */
async function explainLostBlock(tx: Tx, chain: string, number: bigint): Promise<void> {
  const next = await findBlockAfter(tx, chain, number);
  const fork = next && readChainFork(next);
  if (fork)
    throw new ApiError(
      'not_found',
      `Block ${number} was lost with a database, and is no part of the chain: block ${next.number} continues the chain openly without it. Reason given: ${fork.reason}`,
    );
}

function requireReader(principal: Principal): void {
  if (!permits(principal, 'read', { kind: 'chain', tenantId: principal.tenantId }))
    throw new ApiError('forbidden', 'This identity may not read the chain.');
}

/** Our extension: what a seal's transaction says about the event, its commit and the seal. */
const merkleLogDetailsSchema = z.strictObject({
  log_id: z.string(),
  commit: merklelogCommitSchema,
  seal_number: z.string(),
  mmr_size: z.string(),
  root: z.string(),
});

/** Transactions of an event in a response; empty while the event is not anchored yet. */
export const eventTransactionsSchema = z.strictObject({
  transactions: z.array(
    z.strictObject({
      transaction: transactionSchema,
      kind: z.enum(['SIMPLE_HASH', 'MERKLE_LOG']),
      simple_hash_details: simpleHashDetailsSchema.optional(),
      khipu_details: z.strictObject({}),
      merkle_log_details: merkleLogDetailsSchema.optional(),
    }),
  ),
  next_page_token: z.string(),
});
type EventTransactions = z.infer<typeof eventTransactionsSchema>;

/**
 * Returns the chain transactions of an event: for an event of a SIMPLE_HASH asset, that of its anchor; for any other
 * event, that of the seal that covers its commit. A caller that can read only the public form gets those of the public
 * form.
 * @throws {ApiError} not_found
 */
export function readEventTransactions(
  deps: ReadChainDeps,
  principal: Principal,
  address: EventAddress,
): Promise<EventTransactions> {
  const { deployment } = deps;
  return deps.database.inTransaction(readByIdScope(deployment, principal.tenantId), async (tx) => {
    const event = await readableEvent(tx, deps, principal, address);
    const commit = await commitOf(tx, 'asset_event', event);
    const seal = commit?.published?.sealNumber;
    const found = await transactionsOfEvents(tx, event.tenantId, [{ eventId: event.eventId, seal }]);
    const place = found.get(event.eventId);
    if (!place) return { transactions: [], next_page_token: '' };
    const { tenantId } = event;
    const transaction = await findTransaction(tx, deployment.deploymentTenancy, { ...place, tenantId });
    const wallet = (await walletAddresses(tx, [tenantId])).get(tenantId);
    if (!transaction || wallet === undefined) throw new Error('a transaction of the chain is not there');
    const shown = transactionResponse(transaction, wallet);
    const details =
      place.kind === 'SIMPLE_HASH'
        ? { simple_hash_details: await anchorDetails(tx, deps, tenantId, place) }
        : { merkle_log_details: sealDetails(tenantId, commit!) };
    return {
      transactions: [{ transaction: shown, kind: place.kind, ...details, khipu_details: {} }],
      next_page_token: '',
    };
  });
}

async function readableEvent(
  tx: Tx,
  { deployment }: ReadChainDeps,
  principal: Principal,
  address: EventAddress,
): Promise<AssetEvent> {
  try {
    return await requireAssetEvent(tx, principal, address);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'not_found') throw error;
    return requirePublicEvent(tx, deployment.publicTenancy, address);
  }
}

async function anchorDetails(tx: Tx, deps: ReadChainDeps, tenantId: string, place: EventTransaction) {
  const anchor = await findAnchor(tx, tenantId, place.number);
  if (!anchor) throw new Error('an anchor of the chain is not there');
  const form = tenantId === deps.deployment.publicTenancy ? 'publicassets' : 'assets';
  return simpleHashDetails(anchor, { publicUrl: deps.publicUrl, form });
}

function sealDetails(tenantId: string, commit: NonNullable<Awaited<ReturnType<typeof commitOf>>>) {
  const { sealNumber, size, root } = commit.published!;
  return {
    log_id: tenantId,
    commit: merklelogCommit(commit),
    seal_number: sealNumber.toString(),
    mmr_size: size.toString(),
    root: hexData(root),
  };
}
