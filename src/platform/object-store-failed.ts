/** A server that keeps the objects cannot be reached, or refuses what a store must be able to do. */
export class ObjectStoreFailed extends Error {
  override readonly name = 'ObjectStoreFailed';

  constructor(
    reason: string,
    options?: ErrorOptions,
    /** The server's name for its refusal. */
    readonly code?: string,
  ) {
    super(reason, options);
  }
}
