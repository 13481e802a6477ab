import { type Logger as PinoLogger, pino } from 'pino';
import type { LogLevel } from './config.js';

export type Logger = PinoLogger;

const SECRETS = ['authorization', 'client_secret', 'clientSecret', 'access_token', 'secret', 'password', 'pepper'];
/** Telephone numbers as vCons carry them: a tel URI, or a plus sign with at least seven digits. */
const TELEPHONE = /tel:[+\d][\d\-().]{3,}|\+\d[\d\s\-().]{5,}\d/g;
const TOKEN = /\b(?:bearer|basic)\s+[\w.~+/=-]+|\beyJ[\w-]+\.[\w-]+\.[\w-]*/gi;
const URL_PASSWORD = /:\/\/[^\s:/@]*:[^\s/@]+@/g;

function withoutSecrets(line: string): string {
  return line.replace(TOKEN, '[token]').replace(TELEPHONE, '[telephone]').replace(URL_PASSWORD, '://[credentials]@');
}

/**
 * Writes one JSON object a line to standard output. Members that hold secrets, bearer tokens, credentials in URLs and
 * telephone numbers are blotted out, wherever in a line they stand.
 */
export function createLogger(level: LogLevel, destination?: { write(line: string): unknown }): Logger {
  const paths = SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  const options = { level, base: null, redact: { paths, censor: '[secret]' }, hooks: { streamWrite: withoutSecrets } };
  return destination ? pino(options, destination) : pino(options);
}
