/** Work did not finish in time; it may still finish. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

/** Waits for work for a limited time. @throws {TimeLimitError} */
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
