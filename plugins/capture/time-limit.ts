/** Work did not end in time; it may still end. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

/** The result of work, for so long only. @throws {TimeLimitError} */
export async function within<Value>(ms: number, work: Promise<Value>, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeLimitError(what)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
