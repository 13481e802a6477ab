const ESCAPES = /(?:%[0-9a-f]{2})+/gi;
/** A text that is still percent-encoded after this many rounds is meant to hide something. */
const MOST_ROUNDS = 8;
/** Characters that show nothing, such as the soft hyphen and the zero-width space. */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** Dashes of all kinds and the minus sign. */
const DASH = /[\p{Pd}\u2212]/gu;
const DIGIT = /\p{Nd}/gu;
const IS_DIGIT = /^\p{Nd}$/u;

/** No other digits stand beside it, as they would if it were a part of a number. */
const NO_DIGIT_BEFORE = '(?<!\\d[^\\p{L}\\d]{0,3})';
const NO_DIGIT_AFTER = '(?![^\\p{L}\\d]{0,3}\\d)';
const YEAR = '(?:19|20)\\d{2}';
const MONTH = '(?:0[1-9]|1[0-2])';
const DAY = '(?:0[1-9]|[12]\\d|3[01])';
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:[.,]\\d{1,6})?)?';
const OFFSET = '[+-](?:0\\d|1[0-4]):?(?:00|15|30|45)';
const apart = (source: string): RegExp => new RegExp(NO_DIGIT_BEFORE + source + NO_DIGIT_AFTER, 'gu');

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
/** Year, month and day in either order, with or without separators, optionally followed by the digits of a time. */
const DATE = new RegExp(
  `(?<!\\d)(?:${YEAR}([-./]?)${MONTH}\\1${DAY}|${YEAR}([-./])(?:[1-9]|1[0-2])\\2(?:[1-9]|[12]\\d|3[01])|${DAY}([-./])${MONTH}\\3${YEAR})` +
    `(?:[T -]?[0-2]\\d[-:.]?[0-5]\\d(?:[-:.]?[0-5]\\d(?:\\.\\d{1,6})?)?(?:${OFFSET})?)?(?!\\d)`,
  'g',
);
const TIMES = apart(`${TIME}(?:${OFFSET}| ?- ?${TIME})?`);
/** From one year to another, or a list of years. */
const YEARS = apart(`${YEAR}(?:(?:[-/]|, ?| & )${YEAR})+`);
/** In a name whose words are joined by "_": a year and one number, as of a regulation, a norm or a series. */
const NUMBER_OF_YEAR = apart(`(?:${YEAR}_\\d{1,5}|\\d{1,5}_${YEAR})`);
/** Seven digits at most: `v49.170.123.456` may be a telephone number. */
const VERSION = /(?<![a-z0-9])v\d{1,2}(?:[-.]\d{1,2})?[-.]\d{1,3}(?![^\p{L}\d\s]{0,3}\d)/giu;
/** More digits together than the 15 of an E.164 number. */
const LONG_NUMBER = /\d{16,}/g;
const ORDINARY = [UUID, DATE, TIMES, YEARS, VERSION, LONG_NUMBER];

const NUMBER = /\d(?:(?:[\s().\-/]*|[^\p{L}\d]{1,3})\d)+/gu;
/** A telephone number without its area code has seven digits. */
const LEAST_DIGITS = 7;
const ADDRESS = /[^\s@]@[^\s@]|(?<!\p{L})(?:tel|sips?|mailto):/iu;

/** Unicode has the decimal digits of each script in a row, beginning with zero. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  let zero = code;
  while (IS_DIGIT.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((code - zero) % 10);
}

/** One percent-decoding; then the usual characters for what others stand for, without those that nobody sees. */
function plainer(text: string): string {
  return text
    .replace(ESCAPES, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString())
    .normalize('NFKC')
    .replace(UNSEEN, '')
    .replace(DIGIT, asciiDigit)
    .replace(DASH, '-');
}

/** A text as a person reads it; undefined if it is encoded too often. */
function plain(text: string): string | undefined {
  let before = text;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const read = plainer(before);
    if (read === before) return read;
    before = read;
  }
  return undefined;
}

/**
 * True if a text is or contains something like a telephone number, an e-mail address or a URI of one (`tel:`, `sip:`,
 * `mailto:`), in whatever script, with whatever separators, and percent-encoded or not. Dates, times, years and
 * versions do not count.
 */
export function looksPersonal(text: string): boolean {
  const read = plain(text);
  if (read === undefined || ADDRESS.test(read)) return true;
  const joined = read.replace(NUMBER_OF_YEAR, ' x ').replaceAll('_', '-');
  const rest = ORDINARY.reduce((left, form) => left.replace(form, ' x '), joined);
  return [...rest.matchAll(NUMBER)].some(([run]) => run.replace(/\D/g, '').length >= LEAST_DIGITS);
}
