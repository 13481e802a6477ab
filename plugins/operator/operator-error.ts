/** A request of the operator cannot be carried out. The message says why and what to do instead, and holds no secret. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}

/** There is no embedded queue: no service or plugin has run in that `DATA_DIR`. */
export class NoQueueYet extends OperatorError {
  override readonly name = 'NoQueueYet';
}

/** Another process has the embedded queue open. */
export class QueueInUse extends OperatorError {
  override readonly name = 'QueueInUse';
}
