/** What the system's error codes mean, for a person who starts a service. */
export const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EIO: 'the disk or its connection has failed',
  ESTALE: 'the file system over the network has changed, mount it again',
  EMFILE: 'this process has too many files open',
  ENFILE: 'this machine has too many files open',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'a file of that name exists',
  EADDRINUSE: 'something listens there already, another process or another port of this one',
  EADDRNOTAVAIL: 'this machine has no such address',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  EHOSTDOWN: 'the host cannot be reached',
  ENETUNREACH: 'the network of the host cannot be reached',
  ETIMEDOUT: 'no answer in time',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name cannot be looked up',
};

const UNKNOWN_AUTHORITY =
  'the certificate of the server is not of a trusted authority: name a file with the certificate of its authority in NODE_EXTRA_CA_CERTS, or for PostgreSQL in sslrootcert';

/** What is wrong with the certificate of a server, and who changes it. */
export const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate of the server, or of its authority, has expired: renew it on the server',
  CERT_NOT_YET_VALID: 'the certificate of the server is not valid yet: compare the clocks of both machines',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'the certificate of the server is for other names: connect to a name that it has, or renew it with this name',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
};

/** Returns why the certificate of a server was refused, here or in a cause; undefined if something else failed. */
export function certificateFault(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return ownCertificateFault(error) ?? certificateFault(error.cause);
}

function ownCertificateFault(error: unknown): string | undefined {
  const { code, reason } = error as { code?: string; reason?: unknown };
  const fault = CERTIFICATE_FAULTS[code ?? ''];
  return fault && `${fault} (${code}${typeof reason === 'string' ? `: ${reason}` : ''})`;
}

/** Returns why something failed: one line for a person, without a stack. */
export function failureReason(error: unknown): string {
  // A host with several addresses fails once per address, and the message of the aggregate error is empty.
  if (error instanceof AggregateError && error.errors.length > 0) return failureReason(error.errors[0]);
  const fault = ownCertificateFault(error);
  if (fault !== undefined) return fault;
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
