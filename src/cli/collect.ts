/** Collects the values of a repeatable option, for the parser of the command line. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}
