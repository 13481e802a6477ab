import { ApiError } from '../../platform/errors.js';

const ATTEMPTS = 40;
const PAUSE_MS = 50;

/** The event is sealed in its tenancy log, but the statement log, which has its own sequencer, is a round behind. */
export class StatementLogBehind extends ApiError {
  constructor() {
    super('not_ready', 'The statement waits for its log to be sealed.', { 'retry-after': '1' });
  }
}

/**
 * Retries for up to two seconds while the statement log is behind, so that a CONFIRMED event has its transparent
 * statement. Each attempt is a transaction of its own; nothing is held between attempts.
 * @throws {StatementLogBehind} when the log does not catch up in time
 */
export async function onceStatementLogFollows<Result>(read: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof StatementLogBehind) || attempt === ATTEMPTS) throw error;
    }
    await new Promise((wake) => setTimeout(wake, PAUSE_MS));
  }
}
