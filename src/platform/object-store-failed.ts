/**
 * A server that keeps the objects cannot be reached, or refuses what a store must be able to do; or the file system that
 * keeps them has failed.
 */
export class ObjectStoreFailed extends Error {
  override readonly name = 'ObjectStoreFailed';

  constructor(
    reason: string,
    options?: ErrorOptions,
    /** The server's name for its refusal, or the code of the file system. */
    readonly code?: string,
  ) {
    super(reason, options);
  }
}
