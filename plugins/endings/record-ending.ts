import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { enqueueOperation } from '../capture/enqueue-operation.js';
import type { Memory } from '../memory/memory.js';
import type { EndingFound, StorageAnswer } from '../operation/ending.js';
import { operationEvent } from '../operation/operation-event.js';

/** Which attribute names the storages that gave which answers. */
const ATTRIBUTES: Readonly<Record<string, readonly StorageAnswer[]>> = {
  storages_without_vcon: ['gone'],
  storages_with_vcon: ['held'],
  storages_failed: ['failed', 'no_answer', 'cannot_be_asked'],
  storages_not_asked: ['not_asked'],
};

/** Names of storages in one text; what separates or could be misread is percent-encoded. */
function attributesOf(storages: EndingFound['storages']): Record<string, string> {
  const of = (answers: readonly StorageAnswer[]): string =>
    [...storages]
      .filter(([, answer]) => answers.includes(answer))
      .map(([name]) => encodeURIComponent(name))
      .sort()
      .join(' ');
  const named = Object.entries(ATTRIBUTES).map(([attribute, answers]) => [attribute, of(answers)] as const);
  return Object.fromEntries(named.filter(([, text]) => text !== ''));
}

/** What became of a finding; `unknown`: no hash of the vCon is known, `ended before`: it has ended in another way. */
export type EndingOutcome = 'recorded' | 'unknown' | 'ended before';

/**
 * Keeps the end of a vCon for delivery, with the last hash that is known: the document itself is gone. A finding that
 * arrives twice is one event; a vCon that was captured again since may end again.
 * @throws when the queue or the memory does not answer
 */
export async function recordEnding(
  parts: { readonly backend: QueueBackend; readonly memory: Memory },
  { ending, uuid, storages, observed }: EndingFound,
): Promise<EndingOutcome> {
  const { payload, sequence = '', history, tenancy, ended } = await parts.memory.read('vcons', uuid);
  if (!payload) return 'unknown';
  const isEnd = ending !== 'vcon_deletion_incomplete';
  if (ended !== undefined && ended !== `${sequence}:${ending}` && ended.startsWith(`${sequence}:`))
    return 'ended before';
  const told = attributesOf(storages);
  const nonce = isEnd ? sequence : `${sequence}:${JSON.stringify(told)}`;
  const operation = { name: ending, nonce, ...(tenancy ? { tenancy } : {}) };
  const event = operationEvent(operation, { payload, uuid }, { method: 'storages', observed, history });
  await enqueueOperation(parts.backend, operation, { ...event, attributes: { ...event.attributes, ...told } });
  if (isEnd) await parts.memory.write('vcons', uuid, { ended: `${sequence}:${ending}` });
  return 'recorded';
}
