/**
 * How soon a round begins. `urgent`: a caller waits for its seal. `soon`: as soon as its turn comes. `paced`: at once if
 * the log was quiet or a whole batch waits, otherwise after a pause, and not beside urgent rounds, so that a busy service
 * works on larger batches.
 */
export type Haste = 'urgent' | 'soon' | 'paced';

const HASTES: readonly Haste[] = ['paced', 'soon', 'urgent'];

/** The haste that begins a round earlier. */
export function sooner(one: Haste, other: Haste): Haste {
  return HASTES.indexOf(one) < HASTES.indexOf(other) ? other : one;
}
