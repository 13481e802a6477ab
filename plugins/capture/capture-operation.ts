import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { Fields, Memory } from '../memory/memory.js';
import type { CaptureMethod, Observation } from '../operation/capture-sequence.js';
import { type Consent, type ConsentChange, consentChanges } from '../operation/consent.js';
import type { Operation } from '../operation/operation.js';
import { operationEvent, subjectUuid } from '../operation/operation-event.js';
import type { VconFacts } from '../operation/vcon-facts.js';
import { enqueueOperation } from './enqueue-operation.js';
import { noteSuccession } from './note-succession.js';

/** What was kept, as a caller is told. */
export interface Captured {
  readonly job: string;
  readonly subject: string;
  readonly payload: string;
}

/** An operation that has ended, and how that is known. */
export interface Ended {
  readonly operation: Operation;
  readonly vcon: VconFacts;
  readonly method: CaptureMethod;
  readonly observed: Observation;
}

export interface CaptureParts {
  readonly backend: QueueBackend;
  readonly memory: Memory;
  /** Counts what was captured. */
  counted(operation: string): void;
  /** The same operation on the same bytes was captured by another method before. */
  doubled(operation: string): void;
  /** Whether a completeness tap needs to know what was captured. */
  readonly tapped: boolean;
}

/** Keeps an operation for delivery. Resolves when it is on disk. @throws when the queue cannot promise that */
export type CaptureOperation = (ended: Ended) => Promise<Captured>;

/** What is remembered of a vCon, as the fields of its name in `vcons`. */
interface RememberedVcon {
  readonly consents: readonly Consent[];
  /** How often the consents have changed: a change back to an earlier state is another change. */
  readonly consentChanges: number;
  readonly history: string | undefined;
}

function remembered(fields: Fields): RememberedVcon {
  return {
    consents: fields['consents'] ? (JSON.parse(fields['consents']) as Consent[]) : [],
    consentChanges: Number(fields['consent_changes'] ?? 0),
    history: fields['history'],
  };
}

/**
 * The one way from an operation that has ended to the queue, whoever saw it: consents are compared with those last seen,
 * predecessors followed, and what was captured is remembered. A crash between the queue and the memory has the same
 * operation captured again, under the same ids.
 */
export function createCapture(parts: CaptureParts): CaptureOperation {
  const { backend, memory } = parts;
  /** Captures of one vCon come one after the other, so that no change of consent is seen twice. */
  const under = new Map<string, Promise<unknown>>();

  async function historyOf(uuid: string, vcon: VconFacts, known: RememberedVcon): Promise<string> {
    const predecessor = vcon.redacted ?? vcon.amended;
    if (known.history || !predecessor || predecessor === uuid) return known.history ?? uuid;
    return (await memory.read('vcons', predecessor))['history'] ?? predecessor;
  }

  async function enqueue(ended: Ended, history: string): Promise<Captured> {
    const { operation, vcon, method, observed } = ended;
    const event = operationEvent(operation, vcon, { method, observed, history });
    const job = await enqueueOperation(backend, operation, event);
    parts.counted(operation.name);
    return { job, subject: event.subject, payload: event.payload };
  }

  function consentOperation(ended: Ended, change: ConsentChange, before: number): Ended {
    const { chain, link, tenancy } = ended.operation;
    const place = { ...(chain ? { chain } : {}), ...(link ? { link } : {}), ...(tenancy ? { tenancy } : {}) };
    return { ...ended, operation: { name: change.operation, ...place, nonce: `${change.digest}.${before}` } };
  }

  async function capture(ended: Ended, uuid: string): Promise<Captured> {
    const { operation, vcon, method, observed } = ended;
    const fields = await memory.read('vcons', uuid);
    const known = remembered(fields);
    const history = await historyOf(uuid, vcon, known);
    const changes = vcon.consents ? consentChanges(known.consents, vcon.consents) : [];
    const captured = await enqueue(ended, history);
    for (const change of changes) await enqueue(consentOperation(ended, change, known.consentChanges), history);
    const seen = `op:${operation.reported ?? operation.name}:${vcon.payload}`;
    const earlier = fields[seen];
    if (earlier && earlier !== method) {
      parts.doubled(operation.name);
      const methods = [earlier, method].sort().join(' and ');
      await memory.write('doubles', operation.name, { [methods]: new Date(observed.atMs).toISOString() });
    }
    await memory.write('vcons', uuid, {
      history,
      payload: vcon.payload,
      sequence: observed.sequence,
      [seen]: earlier ?? method,
      ...(changes.length > 0
        ? { consents: JSON.stringify(vcon.consents), consent_changes: String(known.consentChanges + 1) }
        : {}),
      ...(operation.tenancy ? { tenancy: operation.tenancy } : {}),
    });
    if (parts.tapped) {
      const predecessors = [vcon.redacted, vcon.amended].filter((each) => each !== undefined && each !== uuid);
      await noteSuccession(memory, predecessors, observed.atMs);
      await memory.write('tap', uuid, { captured: String(observed.atMs) });
    }
    return captured;
  }

  return (ended) => {
    const uuid = subjectUuid(ended.vcon);
    const turn = (under.get(uuid) ?? Promise.resolve()).catch(() => undefined).then(() => capture(ended, uuid));
    under.set(uuid, turn);
    const done = (): void => {
      if (under.get(uuid) === turn) under.delete(uuid);
    };
    turn.then(done, done);
    return turn;
  };
}
