/**
 * Returns the target of a request as a path with its query: an absolute URL, which every server must accept (RFC 9112
 * section 3.2.2), without its scheme and host. Undefined for what is neither.
 */
export function originForm(target: string): string | undefined {
  if (target.startsWith('/') || target === '*') return target;
  if (!/^https?:\/\//i.test(target) || !URL.canParse(target)) return undefined;
  const { pathname, search } = new URL(target);
  return pathname + search;
}
