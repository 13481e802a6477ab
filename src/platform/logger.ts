import { type LogFn, type LoggerOptions, type Logger as PinoLogger, pino } from 'pino';
import { limitRepeatedErrors } from './repeated-lines.js';

export type Logger = PinoLogger;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

const SECRETS = ['authorization', 'client_secret', 'clientSecret', 'access_token', 'secret', 'password', 'pepper'];
/** Telephone numbers as vCons carry them: a tel URI, or a plus sign with at least seven digits. */
const TELEPHONE = /tel:[+\d][\d\-().]{3,}|\+\d[\d\s\-().]{5,}\d/g;
const TOKEN = /\b(?:bearer|basic)\s+[\w.~+/=-]+|\beyJ[\w-]+\.[\w-]+\.[\w-]*/gi;
const URL_PASSWORD = /:\/\/[^\s:/@]*:[^\s/@]+@/g;

function withoutSecrets(line: string): string {
  return line.replace(TOKEN, '[token]').replace(TELEPHONE, '[telephone]').replace(URL_PASSWORD, '://[credentials]@');
}

/** A full disk or an absent server fails every request and every retry alike: one line a minute says so. */
function withoutRepetition() {
  const leftOut = limitRepeatedErrors(() => performance.now());
  return function logMethod(this: PinoLogger, args: Parameters<LogFn>, method: LogFn): void {
    const [line, message, ...more] = args as unknown as [unknown, string | undefined, ...unknown[]];
    const repeated = leftOut(line, message);
    if (repeated === undefined) return;
    const counted = repeated === 0 ? line : { ...(line as object), repeated };
    method.apply(this, [counted, message, ...more] as unknown as typeof args);
  };
}

/**
 * Writes one JSON object per line to standard output, or readable lines for a terminal. Members that hold secrets,
 * bearer tokens, credentials in URLs and telephone numbers are redacted wherever they occur in a line. The same error is
 * logged at most once a minute; `repeated` of the next line says how often it was left out.
 */
export function createLogger(
  level: LogLevel,
  { format = 'json', destination }: { format?: LogFormat; destination?: { write(line: string): unknown } } = {},
): Logger {
  const paths = SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  const options: LoggerOptions = {
    level,
    base: null,
    redact: { paths, censor: '[secret]' },
    hooks: { streamWrite: withoutSecrets, logMethod: withoutRepetition() },
  };
  if (destination) return pino(options, destination);
  // pino's own transport for terminals: it is loaded in a worker, and only here.
  return format === 'pretty' ? pino(options, pino.transport({ target: 'pino-pretty' })) : pino(options);
}
