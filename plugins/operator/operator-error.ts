/** What an operator asked for cannot be done; the message says why and what to do instead, and holds no secret. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
