/**
 * Codes of a file system that has failed, only reads, or refuses this user, and of a process or machine that can open no
 * further file: they say nothing about the file that was asked for.
 */
const FAULTS: ReadonlySet<string> = new Set([
  ...['EIO', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE'],
  // Over a network.
  ...['ESTALE', 'ETIMEDOUT', 'EHOSTDOWN', 'ENOTCONN'],
]);

/** True if an operation failed with the file system, not with the file. */
export function isFileSystemFault(error: unknown): boolean {
  return FAULTS.has(String((error as { code?: unknown } | null)?.code));
}
