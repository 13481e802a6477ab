import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { TimeLimitError, within } from '../../src/platform/time-limit.js';
import type { Fields, Memory } from '../memory/memory.js';
import type { Consent } from '../operation/consent.js';
import { operationEvent, subjectOf } from '../operation/operation-event.js';
import type { VconFacts } from '../operation/vcon-facts.js';
import { afterEnd } from './after-end.js';
import { type AnswerWindow, NO_HURRY } from './answer-window.js';
import type { Ended } from './ended.js';
import { firstOfHistory } from './first-of-history.js';
import { HELD_MS, type HeldOperation, heldOperation, holdOperations } from './held-operation.js';
import { isLate, seenFields } from './late-capture.js';
import { notePassage } from './note-passage.js';
import { noteSuccession } from './note-succession.js';
import { newestConsents, olderConsents, type SeenConsents, seenConsents } from './seen-consents.js';

/** What was stored, as reported to the caller. */
export interface Captured {
  readonly job: string;
  readonly subject: string;
  readonly payload: string;
}

interface CaptureParts {
  readonly backend: QueueBackend;
  readonly memory: Memory;
  /** Counts what was captured. */
  counted(operation: string): void;
  /** Another method captured the same operation on the same bytes before. */
  doubled(operation: string): void;
  /** Where a completeness tap needs a record of captures; undefined without one. */
  readonly passages: Memory | undefined;
  /** Ids of jobs that were refused but may still be in the queue: they must not be delivered. */
  readonly withdrawn: Set<string>;
  /** How far the clock of the conserver's Redis is ahead of this process's; undefined if not known. */
  conserverAheadMs?(): number | undefined;
  readonly logger: Logger;
}

/**
 * Stores an operation for delivery. Resolves when it is on disk. If it rejects within a window, the operation never
 * becomes an event; without a window the caller must retry until it resolves.
 * @throws when the queue cannot guarantee that it is stored
 */
export type CaptureOperation = (ended: Ended, window?: AnswerWindow) => Promise<Captured>;

/** If the memory takes longer, the caller gets its response before the memory is updated. */
const REMEMBER_WITHIN_MS = 300;
const RETRIES = 120;
const RETRY_MS = 1_000;
const WITHDRAW_EVERY_MS = 250;

/** Pauses between attempts without keeping the process alive. */
const pause = (ms: number): Promise<void> => wait(ms, undefined, { ref: false });

function requireOpen(window: AnswerWindow): void {
  if (!window.isOpen()) throw new TimeLimitError('the queue did not keep it in time');
}

/**
 * The only path from a completed operation to the queue: it compares consents with those last seen, follows
 * predecessors, and remembers what was captured.
 * An operation is held in the queue until it is durable, then released. After a crash before the release, it is
 * delivered some minutes later. After a crash between the release and the memory update, the same operation is captured
 * again under the same ids.
 */
export function createCapture(parts: CaptureParts): CaptureOperation {
  const { backend, memory, withdrawn, logger } = parts;
  const by = randomUUID();
  const capturing = () => ({ by, aheadMs: parts.conserverAheadMs?.() });
  /** Captures of one vCon run one after the other, so that a change of consent is not seen twice. */
  const under = new Map<string, Promise<unknown>>();

  /** The consents of a vCon before this operation: those last seen, or those of the vCon that it continues. */
  async function consentsBefore(uuid: string, vcon: VconFacts, seen: SeenConsents): Promise<readonly Consent[]> {
    const predecessor = vcon.redacted ?? vcon.amended;
    if (seen.consents || !vcon.uuid || !predecessor || predecessor === uuid) return seen.consents ?? [];
    return seenConsents(await memory.read('vcons', predecessor)).consents ?? [];
  }

  async function compareConsents(
    ended: Ended,
    uuid: string,
    fields: Fields,
    { late, window }: { readonly late: boolean; readonly window: AnswerWindow },
  ) {
    const seen = seenConsents(fields);
    // A later state may have shown no consents: a signed one.
    const older = seen.consents && isLate(ended, seen.newest?.place ?? fields, window, capturing());
    if (older) return olderConsents(ended, seen);
    const before = await consentsBefore(uuid, ended.vcon, seen);
    const last = late ? fields['sequence']! : ended.observed.sequence;
    return newestConsents(ended, seen, { before, place: seenFields(ended, capturing()), last });
  }

  async function historyOf(uuid: string, vcon: VconFacts, known: string | undefined): Promise<string | undefined> {
    if (!vcon.uuid) return undefined;
    const first = known ?? vcon.redacted ?? vcon.amended ?? uuid;
    return first === uuid ? uuid : firstOfHistory(memory, first);
  }

  /** @param identity what makes a second capture the same; by default the whole operation */
  function prepare({ operation, vcon, method, observed }: Ended, history: string | undefined, identity = operation) {
    return heldOperation(backend, identity, operationEvent(operation, vcon, { method, observed, history }));
  }

  /** Wherever a change of consent is seen, it is the same change. */
  function prepareConsent(ended: Ended, history: string | undefined): HeldOperation {
    const { chain: _chain, link: _link, ...identity } = ended.operation;
    return prepare(ended, history, identity);
  }

  /**
   * Removes refused operations from the queue. Until that succeeds, no worker of this process delivers them, and further
   * captures of the vCon wait. One that a worker has delivered in the meantime stays: nothing takes it out of the log.
   */
  async function withdraw(operations: readonly HeldOperation[]): Promise<void> {
    for (const { job } of operations) withdrawn.add(job);
    for (let attempt = 0; attempt * WITHDRAW_EVERY_MS < HELD_MS; attempt += 1) {
      try {
        for (const held of operations) {
          if (!(await held.withdraw())) logger.error({ job: held.job }, 'a refused operation is in the log');
          withdrawn.delete(held.job);
        }
        return;
      } catch (error) {
        if (attempt === 0) logger.warn({ err: error }, 'cannot remove a refused operation from the queue yet');
        await pause(WITHDRAW_EVERY_MS);
      }
    }
    logger.error({ jobs: operations.map(({ job }) => job) }, 'a refused operation may be in the log');
  }

  async function keep(operations: readonly HeldOperation[], window: AnswerWindow): Promise<void> {
    requireOpen(window);
    // What an earlier capture of the same operations could not remove in time belongs to this one.
    for (const { job } of operations) withdrawn.delete(job);
    try {
      await holdOperations(backend, operations);
      await backend.confirmDurable();
      requireOpen(window);
      if (!(await operations[0]!.release())) throw new Error('another plugin took it out of the queue');
      if (window.isRefused()) throw new TimeLimitError('the queue did not answer in time');
    } catch (error) {
      if (window !== NO_HURRY) await withdraw(operations);
      throw error;
    }
  }

  async function remember(
    ended: Ended,
    uuid: string,
    history: string | undefined,
    fields: Fields,
    state: { readonly late: boolean; readonly changed: Fields },
  ): Promise<void> {
    const { operation, vcon, method, observed } = ended;
    const { late, changed } = state;
    const seen = `op:${operation.name}:${vcon.payload}`;
    const earlier = fields[seen];
    if (earlier && earlier !== method) {
      const methods = [earlier, method].sort().join(' and ');
      await memory.write('doubles', operation.name, { [methods]: new Date(observed.atMs).toISOString() });
    }
    await memory.write('vcons', uuid, {
      ...(history ? { history } : {}),
      ...(late ? {} : { payload: vcon.payload, ...seenFields({ method, observed }, capturing()) }),
      [seen]: earlier ?? method,
      ...changed,
      ...(operation.tenancy ? { tenancy: operation.tenancy } : {}),
    });
    if (earlier && earlier !== method) parts.doubled(operation.name);
  }

  async function noteCaptured({ vcon, observed }: Ended, uuid: string, late: boolean): Promise<void> {
    // A document without a uuid never leaves a chain under one.
    if (!parts.passages || !vcon.uuid || (late && !observed.clockWrong)) return;
    const predecessors = [vcon.redacted, vcon.amended].filter((each) => each !== undefined && each !== uuid);
    await noteSuccession(parts.passages, predecessors, observed);
    await notePassage(parts.passages, uuid, 'captured', observed);
  }

  /** Work after a capture is final: it may be slow, and its failure no longer refuses the capture. */
  async function follow(work: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        logger.warn({ err: error, attempt }, 'cannot remember the captured operation yet');
        if (attempt >= RETRIES) return;
        await pause(RETRY_MS);
      }
    }
  }

  async function capture(ended: Ended, uuid: string, window: AnswerWindow) {
    requireOpen(window);
    const { vcon } = ended;
    const fields = await memory.read('vcons', uuid);
    const history = await historyOf(uuid, vcon, fields['history']);
    const late = isLate(ended, fields, window, capturing());
    const consents = await compareConsents(ended, uuid, fields, { late, window });
    const { identity, remembered } = afterEnd(ended, fields, late);
    const changes = consents.operations.map((each) => prepareConsent(each, history));
    const operations: HeldOperation[] = [prepare(ended, history, identity), ...changes];
    await keep(operations, window);
    for (const { name } of operations) parts.counted(name);
    const following = follow(async () => {
      for (const held of operations.slice(1)) await held.release();
      await remember(ended, uuid, history, fields, { late, changed: { ...consents.fields, ...remembered } });
    }).then(() => follow(() => noteCaptured(ended, uuid, late)));
    await within(REMEMBER_WITHIN_MS, following, 'the memory is slow').catch(() => undefined);
    const [{ job, event }] = operations as [HeldOperation];
    return { captured: { job, subject: event.subject, payload: event.payload }, following };
  }

  /** Plugins that share the memory capture a vCon one after the other too. */
  async function captureAlone(ended: Ended, uuid: string, window: AnswerWindow) {
    const letGo = await memory.hold('vcons', uuid);
    try {
      const { captured, following } = await capture(ended, uuid, window);
      return { captured, following: following.then(letGo) };
    } catch (error) {
      await letGo();
      throw error;
    }
  }

  return async (ended, window = NO_HURRY) => {
    // Documents without a uuid are known by their subject.
    const uuid = ended.vcon.uuid ?? subjectOf(ended.vcon);
    const kept = (under.get(uuid) ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => captureAlone(ended, uuid, window));
    const turn = kept.then(({ following }) => following);
    under.set(uuid, turn);
    const done = (): void => {
      if (under.get(uuid) === turn) under.delete(uuid);
    };
    turn.then(done, done);
    return (await kept).captured;
  };
}
