/** The bytes that a Range header requests; both ends are included. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads a Range header with one range (RFC 9110 section 14.2). Undefined means the whole content, also for a form that
 * is not supported, as the RFC requires. 'unsatisfiable' means that the range starts after the end.
 */
export function byteRange(header: string | undefined, length: number): ByteRange | 'unsatisfiable' | undefined {
  const match = header?.match(/^bytes=(\d*)-(\d*)$/i);
  if (!match || (match[1] === '' && match[2] === '')) return undefined;
  const [from, to] = [match[1]!, match[2]!];
  if (from === '') {
    const count = Math.min(Number(to), length);
    return count === 0 ? 'unsatisfiable' : { first: length - count, last: length - 1 };
  }
  const first = Number(from);
  const last = to === '' ? length - 1 : Math.min(Number(to), length - 1);
  if (to !== '' && Number(to) < first) return undefined;
  return first >= length ? 'unsatisfiable' : { first, last };
}
