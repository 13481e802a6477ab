/** Codes of a file system over a network that is away, and of a process or machine that can open no further file. */
const PASSING: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ESTALE', 'ETIMEDOUT', 'EHOSTDOWN', 'ENOTCONN']);
/** Codes of a file system that has failed, only reads, or refuses this user. */
const LASTING: ReadonlySet<string> = new Set(['EIO', 'EROFS', 'EACCES', 'EPERM']);

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code);
}

/** True if an operation failed with the file system, not with the file. */
export function isFileSystemFault(error: unknown): boolean {
  return PASSING.has(codeOf(error)) || LASTING.has(codeOf(error));
}

/** True if that says nothing about the file, and a later attempt can succeed without anybody's help. */
export function isPassingFault(error: unknown): boolean {
  return PASSING.has(codeOf(error));
}
