import type { Clock } from '../../src/platform/clock.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { enqueueOperation } from '../capture/enqueue-operation.js';
import { createCaptureSequence } from '../operation/capture-sequence.js';
import { looksPersonal } from '../operation/looks-personal.js';
import type { Operation } from '../operation/operation.js';
import type { OperationEvent } from '../operation/operation-event.js';
import type { OperationJob } from '../operation/operation-job.js';
import { findJob } from './kept-operation.js';
import { OperatorError } from './operator-error.js';

/** The operation name of a drop in the log. */
const DROP_OPERATION = 'vcon_capture_dropped';

const MAX_REASON_LENGTH = 200;
const CONTROL = /\p{Cc}/u;
/** Attributes of the dropped event (vCon and place of capture) that the record of the drop repeats. */
const REPEATED = [
  'conserver_link',
  'conserver_link_name',
  'conserver_link_version',
  'conserver_chain',
  'payload',
  'payload_hash_alg',
  'payload_preimage_content_type',
  'subject',
  'vcon_draft_version',
  'scitt_draft_version',
  'vcon_form',
  'vcon_history',
];

interface Drop {
  /** The job that was removed. */
  readonly dropped: string;
  /** The job that delivers the record of the drop. */
  readonly record: string;
}

/** Returns the reason of a drop as it is recorded. @throws {OperatorError} if it is unacceptable */
export function dropReason(text: string): string {
  const reason = text.trim();
  if (reason === '' || [...reason].length > MAX_REASON_LENGTH || CONTROL.test(reason))
    throw new OperatorError(`the reason must be one line of 1 to ${MAX_REASON_LENGTH} characters`);
  // A reason stays in the log forever.
  if (looksPersonal(reason))
    throw new OperatorError(
      'the reason stays in the log forever: it must not contain an address or a telephone number',
    );
  return reason;
}

function dropEvent(id: string, dropped: OperationJob, reason: string, observedMs: number): OperationEvent {
  const observed = new Date(observedMs).toISOString();
  const repeated = REPEATED.flatMap((name) => {
    const value = dropped.attributes[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    subject: dropped.subject,
    payload: dropped.payload,
    timestampDeclared: observed,
    ...(dropped.tenancy ? { tenancy: dropped.tenancy } : {}),
    attributes: {
      ...Object.fromEntries(repeated),
      arc_display_type: DROP_OPERATION,
      vcon_operation: DROP_OPERATION,
      timestamp_declared: observed,
      timestamp_declared_source: 'observed',
      timestamp_observed: observed,
      capture_method: 'operator',
      capture_sequence: createCaptureSequence({ now: () => observedMs })().sequence,
      dropped_operation: dropped.attributes['vcon_operation'] ?? '',
      dropped_job: id,
      dropped_reason: reason,
    },
  };
}

/**
 * Drops a dead letter and records that in the log: a `vcon_capture_dropped` event with the payload's hash and the
 * reason is delivered to the vCon's asset through the same queue. Its job id depends only on the dropped job, so
 * dropping twice makes one record, with the first reason.
 * @param reason as `dropReason` returned it
 * @throws {OperatorError} when the job is not a dead letter, or is itself the record of a drop
 */
export async function dropOperation(backend: QueueBackend, clock: Clock, id: string, reason: string): Promise<Drop> {
  const job = await findJob(backend, id);
  const state = await job.getState();
  if (state !== 'failed')
    throw new OperatorError(
      `the job is ${state}, not a dead letter: only permanently refused operations can be dropped`,
    );
  if (job.name === DROP_OPERATION) throw new OperatorError('the record of a drop cannot be dropped: replay it');
  const dropped = job.data as OperationJob;
  const { conserver_chain: chain, conserver_link_name: link } = dropped.attributes;
  const operation: Operation = {
    name: DROP_OPERATION,
    ...(chain ? { chain } : {}),
    ...(link ? { link } : {}),
    ...(dropped.tenancy ? { tenancy: dropped.tenancy } : {}),
    nonce: id,
  };
  // After a crash here, the dead letter and its record both exist: dropping again removes the job and records nothing
  // new.
  const record = await enqueueOperation(backend, operation, dropEvent(id, dropped, reason, clock.now()));
  await job.remove().catch((error: unknown) => {
    throw new OperatorError(
      `the drop is recorded, but the job is still there, being delivered again at this moment: look with "queue show"`,
      { cause: error },
    );
  });
  await backend.confirmDurable();
  return { dropped: id, record };
}
