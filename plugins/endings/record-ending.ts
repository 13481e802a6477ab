import { MOST_OFFSET_MS } from '../../src/platform/clock-offset.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { enqueueOperation } from '../capture/enqueue-operation.js';
import { firstOfHistory } from '../capture/first-of-history.js';
import type { Memory } from '../memory/memory.js';
import type { CaptureMethod, Observation } from '../operation/capture-sequence.js';
import type { EndingFound, StorageAnswer } from '../operation/ending.js';
import { type EventAttributes, operationEvent } from '../operation/operation-event.js';

/** The attribute that lists the storages with each answer. */
const ATTRIBUTES: Readonly<Record<string, readonly StorageAnswer[]>> = {
  storages_without_vcon: ['gone'],
  storages_with_vcon: ['held'],
  storages_failed: ['failed', 'no_answer', 'cannot_be_asked'],
  storages_not_asked: ['not_asked'],
};

const INCOMPLETE = 'vcon_deletion_incomplete';
/** Methods that saw the document. */
const CAPTURES: ReadonlySet<string> = new Set(['receiver', 'link', 'tracer'] satisfies CaptureMethod[]);

/** Names of storages in one text, each recorded as a label, which contains no space. */
function attributesOf(storages: EndingFound['storages'], label: (name: string) => string): Record<string, string> {
  const of = (answers: readonly StorageAnswer[]): string =>
    [...storages]
      .filter(([, answer]) => answers.includes(answer))
      .map(([name]) => label(name))
      .sort()
      .join(' ');
  const named = Object.entries(ATTRIBUTES).map(([attribute, answers]) => [attribute, of(answers)] as const);
  return Object.fromEntries(named.filter(([, text]) => text !== ''));
}

/**
 * The outcome of a finding. `unknown`: the vCon's hash is unknown; `ended before`: it has already ended in another way;
 * `back`: it was captured again since.
 */
type EndingOutcome = 'recorded' | 'unknown' | 'ended before' | 'back';

interface RecordEndingParts {
  readonly backend: QueueBackend;
  readonly memory: Memory;
  /** A storage's name as it is recorded. */
  label(name: string, tenancy: string | undefined): string;
  /** Attributes of the service's events about a vCon, for one that the plugin has forgotten. */
  lastEvents(uuid: string): Promise<readonly EventAttributes[]>;
}

/** A vCon's last capture, in the form of the plugin's memory. */
type LastCapture = Readonly<
  Partial<Record<'payload' | 'sequence' | 'shared_ms' | 'history' | 'tenancy' | 'ended', string>>
>;

/** The newest event that one of our methods captured, in the form of the memory. */
function lastCaptureOf(events: readonly EventAttributes[]): LastCapture {
  const newestFirst = events
    .filter((event) => event['capture_sequence'] !== undefined)
    .sort((a, b) => (a['capture_sequence']! < b['capture_sequence']! ? 1 : -1));
  const last = newestFirst.find((event) => CAPTURES.has(event['capture_method'] ?? ''));
  if (!last) return {};
  const { payload, capture_sequence: sequence, vcon_history: history } = last;
  const end = newestFirst
    .slice(0, newestFirst.indexOf(last))
    .find((event) => event['capture_method'] === 'storages' && event['vcon_operation'] !== INCOMPLETE);
  return {
    ...(payload ? { payload } : {}),
    ...(sequence ? { sequence } : {}),
    ...(history ? { history: history.replace(/^vcon:\/\//, '') } : {}),
    ...(end ? { ended: `${sequence}:${end['vcon_operation']}` } : {}),
  };
}

/**
 * Whether the last capture is later than the finding, by the clock of the conserver's Redis: the vCon is back, and the hash
 * that it ended with is not known any more. The wheel finds no end sooner than ten seconds after the vCon was in that Redis.
 */
function isBack({ shared_ms: capturedMs }: LastCapture, { atMs, timeUnknown }: Observation): boolean {
  return !timeUnknown && Number(capturedMs || 0) > atMs + MOST_OFFSET_MS;
}

/**
 * Stores the end of a vCon for delivery, with the last known hash: the document itself is gone. A vCon that the plugin
 * has forgotten is looked up at the service. A finding that arrives twice becomes one event; a vCon that was captured
 * again since may end again, and a finding from before that capture is not recorded.
 * @throws when the queue or the memory does not answer, or the service for a vCon that is not remembered
 */
export async function recordEnding(
  parts: RecordEndingParts,
  { ending, uuid, storages, observed }: EndingFound,
): Promise<EndingOutcome> {
  const { memory } = parts;
  const remembered: LastCapture = await memory.read('vcons', uuid);
  const known = remembered.payload ? remembered : lastCaptureOf(await parts.lastEvents(uuid));
  const { payload, sequence = '', tenancy, ended } = known;
  if (!payload) return 'unknown';
  if (isBack(known, observed)) return 'back';
  const isEnd = ending !== INCOMPLETE;
  if (ended !== undefined && ended !== `${sequence}:${ending}` && ended.startsWith(`${sequence}:`))
    return 'ended before';
  const told = attributesOf(storages, (name) => parts.label(name, tenancy));
  const nonce = isEnd ? sequence : `${sequence}:${JSON.stringify(told)}`;
  const operation = { name: ending, nonce, ...(tenancy ? { tenancy } : {}) };
  const history = known.history === undefined ? undefined : await firstOfHistory(memory, known.history);
  const event = operationEvent(operation, { payload, uuid }, { method: 'storages', observed, history });
  await enqueueOperation(parts.backend, operation, { ...event, attributes: { ...event.attributes, ...told } });
  if (isEnd) await memory.write('vcons', uuid, { ended: `${sequence}:${ending}` });
  return 'recorded';
}
