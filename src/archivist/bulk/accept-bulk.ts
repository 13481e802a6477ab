import { ApiError } from '../../platform/errors.js';
import { errorBody, refusalOf } from '../../platform/http/error-reply.js';
import type { Principal } from '../../platform/http/principal.js';
import { inPieces } from '../../platform/in-pieces.js';
import type { Logger } from '../../platform/logger.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { AcceptWriter } from '../accept/accept-writer.js';
import type { Accepted, Settled, Submission } from '../accept/submission.js';
import { type ReadDeps, readScope } from '../read-scope.js';

export interface AcceptBulkDeps extends ReadDeps {
  readonly writer: AcceptWriter;
  readonly logger: Logger;
}

/** How a bulk request handles one kind of event. */
export interface BulkKind {
  /** @throws {ZodError} or {ApiError} naming the invalid field of an event */
  submission(principal: Principal, item: unknown): Submission;
  shown(accepted: Accepted): Record<string, unknown>;
  /** What earlier requests created, by id, as far as the principal may read it. */
  earlier(tx: Tx, principal: Principal, ids: readonly string[]): Promise<Map<string, Record<string, unknown>>>;
}

/** The result of one event: its status, and the event or the error. */
type BulkAnswer = { readonly status: number } & Record<string, unknown>;

/**
 * Accepts the valid events of a bulk request in one transaction. Results are in the order of the events, each as a
 * request of its own would have returned it.
 * @throws an error that affects every event, such as a database outage
 */
export async function acceptBulk(
  deps: AcceptBulkDeps,
  principal: Principal,
  items: readonly unknown[],
  kind: BulkKind,
): Promise<BulkAnswer[]> {
  const read = await inPieces(items, (item) => submissionOf(kind, principal, item));
  const valid = read.filter((each): each is Submission => !(each instanceof ApiError));
  const settled = valid.length === 0 ? [] : await deps.writer.acceptTogether(valid);
  const failed = settled.flatMap((outcome) => ('failed' in outcome ? [outcome.failed] : []));
  if (failed.length > 0 && failed.length === settled.length) throw failed[0];
  for (const error of failed) deps.logger.error({ err: error }, 'an event of a bulk request failed');
  const earlier = await readEarlier(deps, principal, settled, kind);
  const answers = await inPieces(settled, (outcome) => answerOf(outcome, kind, earlier));
  return read.map((each) => (each instanceof ApiError ? refused(each) : answers.shift()!));
}

function submissionOf(kind: BulkKind, principal: Principal, item: unknown): Submission | ApiError {
  try {
    return kind.submission(principal, item);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal) return refusal;
    throw error;
  }
}

async function readEarlier(
  deps: AcceptBulkDeps,
  principal: Principal,
  settled: readonly Settled[],
  kind: BulkKind,
): Promise<Map<string, Record<string, unknown>>> {
  const ids = settled.flatMap((outcome) =>
    'accepted' in outcome && outcome.accepted.kind === 'earlier' ? [outcome.accepted.id] : [],
  );
  if (ids.length === 0) return new Map();
  const scope = readScope(deps.deployment, principal.tenantId);
  return deps.database.inTransaction(scope, (tx) => kind.earlier(tx, principal, ids));
}

function answerOf(outcome: Settled, kind: BulkKind, earlier: Map<string, Record<string, unknown>>): BulkAnswer {
  if ('failed' in outcome) {
    return refused(
      refusalOf(outcome.failed) ??
        new ApiError('internal', 'The service failed on this event. Send it again; its log has the reason.'),
    );
  }
  if ('refused' in outcome) return refused(outcome.refused);
  const { accepted } = outcome;
  if (accepted.kind !== 'earlier') return { status: 200, event: kind.shown(accepted) };
  const event = earlier.get(accepted.id);
  return event ? { status: 200, event } : refused(new ApiError('not_found', 'There is no such event.'));
}

function refused(refusal: ApiError): BulkAnswer {
  return { status: refusal.status, ...errorBody(refusal) };
}
