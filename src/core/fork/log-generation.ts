/** A log's name in its two parts. */
interface LogGeneration {
  /** The name that the log began with: `tenant/<uuid>` or `log/<uuid>`. */
  readonly base: string;
  /** 0 for the log itself, and one more for each open fork. */
  readonly generation: number;
}

const NAME = /^((?:tenant|log)\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\.([1-9]\d{0,8}))?$/;

/** Returns the name of a generation of a log: the first name itself, or with `.<generation>` behind it. */
export function generationName({ base, generation }: LogGeneration): string {
  return generation === 0 ? base : `${base}.${generation}`;
}

/** Returns the parts of a log's name; undefined if it is not a name that `generationName` makes. */
export function parseGeneration(name: string): LogGeneration | undefined {
  const [, base, generation = '0'] = NAME.exec(name) ?? [];
  return base === undefined ? undefined : { base, generation: Number(generation) };
}

/** Returns the name that a log began with; other names are returned unchanged. */
export function firstName(name: string): string {
  return parseGeneration(name)?.base ?? name;
}
