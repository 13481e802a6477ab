import { z } from 'zod';
import { MOST_REASON } from '../../core/fork/fork-statement.js';
import { type Route, route } from '../../platform/http/route.js';
import { explainChain, type ForkChainDeps, forkChain } from '../chain/fork-chain.js';
import { hexData } from '../quantity.js';

const CHAIN = '/archivist/operator/v1/chain';

const blockSchema = z.object({ number: z.number(), hash: z.string() });
const chainSchema = z.object({
  identity: z.literal('chain'),
  finding: z.enum(['consistent', 'database_older', 'objects_differ', 'keys_log_halted']),
  database_block: blockSchema,
  object_store_block: blockSchema,
});

export interface ChainOperatorDeps extends ForkChainDeps {
  /** The state of the chain must be read again. */
  chainForked(): Promise<void>;
}

/** The chain as the operator sees it. */
export type ChainRecord = z.infer<typeof chainSchema>;

function chainRecord({ finding, head, last }: Awaited<ReturnType<typeof explainChain>>): ChainRecord {
  return {
    identity: 'chain',
    finding,
    database_block: { number: Number(head.number), hash: hexData(head.hash) },
    object_store_block: { number: Number(last.number), hash: hexData(last.hash) },
  };
}

/** What the operator of a deployment does with its chain: an extension of the interface, used by `vcon-archivist logs`. */
export function chainOperatorRoutes(deps: ChainOperatorDeps): Route[] {
  const shared = { access: 'operator', extension: true, success: 200, response: chainSchema } as const;
  return [
    route({
      ...shared,
      method: 'GET',
      path: CHAIN,
      operationId: 'Operator_ExplainChain',
      summary: 'Compare the newest block in the database with the newest one in the object store',
      codes: [401, 404],
      handle: async () => ({ body: chainRecord(await explainChain(deps)) }),
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${CHAIN}\\:fork`,
      operationId: 'Operator_ForkChain',
      summary: 'Continue the chain openly after its newest blocks were lost with the database',
      codes: [400, 401, 404, 409, 413],
      body: z.strictObject({ confirm: z.string().max(100), reason: z.string().max(MOST_REASON) }),
      handle: async ({ body }) => {
        const forked = await forkChain(deps, body);
        await deps.chainForked();
        return { body: chainRecord(forked) };
      },
    }),
  ];
}
