import { type LogFn, type LoggerOptions, type Logger as PinoLogger, pino } from 'pino';
import { certificateFault } from './explain-failure.js';
import { limitRepeatedErrors } from './repeated-lines.js';

export type Logger = PinoLogger;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

const SECRETS = ['authorization', 'client_secret', 'clientSecret', 'access_token', 'secret', 'password', 'pepper'];
/** Telephone numbers as vCons carry them: a tel URI, or a plus sign with at least seven digits; also within a URL's query. */
const TELEPHONE = /tel(?::|%3a)(?:%2b|[+\d])[\d\-().]{3,}|(?:\+|%2b)\d[\d\s\-().]{5,}\d/gi;
/** Within one text of the line: a port in one member and an @ in another are no password. */
const URL_PASSWORD = /:\/\/[^\s:/@"\\]*:[^\s/@"\\]+@/g;
/** Of an e-mail address in JSON, before its @. */
const CHARACTER = String.raw`[^\s"\\@<>()[\]:;,]`;
/** JSON would be broken by an escape that loses a part. */
const AFTER_ESCAPE = String.raw`(?<=(?<!\\)(?:\\\\)*\\(?:[\\bfnrt]|u[\da-f]{4}))`;
const TOKEN = new RegExp(
  String.raw`(?=be|ba|ey)(?:(?<![\w-])|${AFTER_ESCAPE})(?:(?:bearer|basic)\s+[\w.~+/=-]+|eyJ[\w-]+\.[\w-]+\.[\w-]*)`,
  'gi',
);
const DOMAIN = String.raw`\[?[\p{L}\p{N}][\p{L}\p{N}.-]*`;
/**
 * Begins only where a word does, so that a long text is read once. After a slash, the @ is of a package in the path of a
 * file.
 */
const EMAIL = new RegExp(
  String.raw`(?=${CHARACTER})(?:(?<!${CHARACTER}|\\)|${AFTER_ESCAPE})${CHARACTER}+(?:(?<!/)@|%40)${DOMAIN}`,
  'gu',
);

function withoutSecrets(line: string): string {
  const redacted = line
    .replace(TOKEN, '[token]')
    .replace(TELEPHONE, '[telephone]')
    .replace(URL_PASSWORD, '://[credentials]@');
  return /@|%40/.test(redacted) ? redacted.replace(EMAIL, '[e-mail]') : redacted;
}

/** Deeper than any error of ours nests others. */
const MOST_DEPTH = 6;

/**
 * The members of an error to write. An error of Redis carries the command that failed, whose arguments can be a password or
 * what was to be stored: only its name is kept, also of the errors within.
 */
function withoutArguments(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MOST_DEPTH) return undefined;
  if (Array.isArray(value)) return value.map((each) => withoutArguments(each, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'args' ? '[arguments]' : withoutArguments(member, depth + 1),
    ]),
  );
}

/** The error of a refused certificate does not say what to change, and has the certificate with a member for each byte. */
function toldError(error: unknown): unknown {
  const told = withoutArguments(pino.stdSerializers.err(error as Error));
  const reason = certificateFault(error);
  return reason === undefined ? told : { ...(told as object), cert: undefined, reason };
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

/** Of lines that wait because they cannot be written; newer ones are lost. */
const WAITING_BYTES = 1024 * 1024;

/**
 * Standard output. Lines that cannot be written, as on a full disk, wait or are lost, and the process goes on. It also ends
 * without them: `sonic-boom` would try for ever to write them, and hold the process.
 */
function standardOutput() {
  const lines = pino.destination({ dest: 1, maxLength: WAITING_BYTES });
  const flushSync = lines.flushSync.bind(lines);
  let fails = false;
  lines.on('error', () => {
    fails = true;
  });
  lines.on('write', () => {
    fails = false;
  });
  lines.flushSync = () => {
    if (!fails) flushSync();
  };
  return lines;
}

/**
 * Writes one JSON object per line to standard output, or readable lines for a terminal. Members that hold secrets,
 * bearer tokens, credentials in URLs, telephone numbers and e-mail addresses are redacted wherever they occur in a line, and
 * so are the arguments of a failed command of Redis. The same error is logged at most once a minute; `repeated` of the next line says how often it was left out.
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
    serializers: { err: toldError },
    hooks: { streamWrite: withoutSecrets, logMethod: withoutRepetition() },
  };
  if (destination) return pino(options, destination);
  // pino's own transport for terminals: it is loaded in a worker, and only here.
  return format === 'pretty'
    ? pino(options, pino.transport({ target: 'pino-pretty' }))
    : pino(options, standardOutput());
}
