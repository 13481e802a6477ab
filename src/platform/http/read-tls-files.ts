import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { explained, failureReason } from '../explain-failure.js';

/** A file and the variable that names it. */
interface NamedFile {
  readonly variable: string;
  readonly file: string;
}

/** The certificate of a TLS listener and its key, in PEM; as bytes, because Node.js ignores an empty text. */
export interface ServerCertificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * Reads what a TLS listener needs.
 * @throws {Error} naming the variable to correct, if a file cannot be read or has something else, or if the key belongs
 * to another certificate
 */
export async function readServerCertificate(certificate: NamedFile, privateKey: NamedFile): Promise<ServerCertificate> {
  const cert = await readNamed(certificate);
  check(`${named(certificate)} must have a certificate in PEM`, () => createSecureContext({ cert }));
  const key = await readNamed(privateKey);
  check(`${named(privateKey)} must have a private key in PEM, without a passphrase`, () =>
    createSecureContext({ key }),
  );
  check(`${named(privateKey)} must have the key of the first certificate in ${named(certificate)}`, () =>
    createSecureContext({ cert, key }),
  );
  return { cert, key };
}

/** Reads the authorities that a TLS listener trusts. @throws {Error} naming the variable, if the file has none */
export async function readAuthorities(file: NamedFile): Promise<Buffer> {
  const authorities = await readNamed(file);
  check(`${named(file)} must have a certificate in PEM`, () => new X509Certificate(authorities));
  return authorities;
}

function named({ variable, file }: NamedFile): string {
  return `${variable} ${file}`;
}

function readNamed(place: NamedFile): Promise<Buffer> {
  return explained(`${named(place)} cannot be read`, readFile(place.file));
}

function check(rule: string, use: () => unknown): void {
  try {
    use();
  } catch (error) {
    throw new Error(`${rule}: ${failureReason(error)}`, { cause: error });
  }
}
