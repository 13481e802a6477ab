/** What the system's error codes mean, for a person who starts a service. */
const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'a file of that name exists',
  EADDRINUSE: 'something listens there already, another process or another port of this one',
  EADDRNOTAVAIL: 'this machine has no such address',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'no answer in time',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name cannot be looked up',
};

/** Returns why something failed: one line for a person, without a stack. */
export function failureReason(error: unknown): string {
  // A host with several addresses fails once per address, and the message of the aggregate error is empty.
  if (error instanceof AggregateError && error.errors.length > 0) return failureReason(error.errors[0]);
  const { code, path, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  const meaning = MEANINGS[code ?? ''];
  if (meaning !== undefined) {
    const place = path ?? (address !== undefined && port !== undefined ? `${address}:${port}` : undefined);
    return place === undefined ? `${meaning} (${code})` : `${meaning} (${code}, ${place})`;
  }
  const message = error instanceof Error ? error.message : String(error);
  if (message.includes('client password must be a string'))
    return 'the server asks for a password: put one into the URL, or into PGPASSWORD';
  return message.replace(/\s*\n\s*/g, ' ').trim() || code || 'unknown';
}

/**
 * Runs the work; if it fails, throws an error whose message begins with what could not be done. @throws {Error} with
 * the failure as its cause
 */
export async function explained<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Error(`${what}: ${failureReason(error)}`, { cause: error });
  }
}

/** As `explained`, for a listener on a port: if it is taken, the message also names the variable to change. */
export async function explainedPort<T>(variable: string, what: string, work: Promise<T>): Promise<T> {
  return explained(what, work).catch(({ message, cause }: Error) => {
    const isTaken = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE';
    throw new Error(isTaken ? `${message}: set ${variable} to another port` : message, { cause });
  });
}
