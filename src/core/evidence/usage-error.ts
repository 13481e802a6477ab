/** Something that a person must correct before anything can be checked. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
