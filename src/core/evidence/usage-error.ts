/** What a person has to put right before anything can be checked. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
