const KEY = /^[a-z0-9][a-z0-9._-]*(\/[a-z0-9][a-z0-9._-]*)*$/;

/**
 * Returns the key of an object: a relative path of plain segments. None begins with a dot, so that a store can have names
 * of its own beside its objects. @throws {TypeError}
 */
export function objectKey(key: string): string {
  if (!KEY.test(key)) throw new TypeError('not an object key');
  return key;
}
