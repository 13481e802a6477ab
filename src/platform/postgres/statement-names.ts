/** A text gets a name when it was sent this often, so that texts made for one search do not use names up. */
const SENT_BEFORE = 3;
/** Every connection keeps the plan of each name. */
const MOST_NAMES = 400;
const MOST_COUNTED = 2_000;
/** Longer texts are made from the policies of one caller, and would fill the memory of every connection. */
const LONGEST = 16_384;

/** Names for the statements that are sent again and again: a connection parses and rewrites a named one only once. */
export interface StatementNames {
  /** The name of a text, once it has one. */
  nameOf(text: string): string | undefined;
  /** No text has a name from now on. */
  stop(): void;
}

export function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  const sent = new Map<string, number>();
  let stopped = false;
  return {
    nameOf(text) {
      if (stopped || text.length > LONGEST) return undefined;
      const name = names.get(text);
      if (name !== undefined || names.size === MOST_NAMES) return name;
      const times = (sent.get(text) ?? 0) + 1;
      sent.delete(text);
      if (times >= SENT_BEFORE) names.set(text, `archivist_${names.size + 1}`);
      else sent.set(text, times);
      if (sent.size > MOST_COUNTED) sent.delete(sent.keys().next().value!);
      return undefined;
    },
    stop() {
      stopped = true;
    },
  };
}

/**
 * True if a connection did not know a statement's name, had another one under it, or could not use its plan any more: a
 * connection pooler that changes servers between transactions, or a migration by a newer version.
 */
export function isNameRefused(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: unknown; routine?: unknown };
  return code === '26000' || code === '42P05' || (code === '0A000' && routine === 'RevalidateCachedQuery');
}
