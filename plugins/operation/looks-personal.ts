const ESCAPE = /%([2-7][0-9a-f])/gi;
/** Dashes of all kinds, the minus sign, and what joins the words of a link's name. */
const DASH = /[\p{Pd}\u2212_]/gu;
const DIGIT = /\p{Nd}/gu;
const IS_DIGIT = /^\p{Nd}$/u;

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
/** Year, month and day in either order, with or without separators, optionally followed by the digits of a time. */
const DATE =
  /(?<!\d)(?:(?:19|20)\d{2}([-./]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])|(?:19|20)\d{2}([-./])(?:[1-9]|1[0-2])\2(?:[1-9]|[12]\d|3[01])|(?:0[1-9]|[12]\d|3[01])([-./])(?:0[1-9]|1[0-2])\3(?:19|20)\d{2})(?:[T -]?[0-2]\d[-:.]?[0-5]\d(?:[-:.]?[0-5]\d)?)?(?!\d)/g;
/** From one year to another. */
const YEARS = /(?<!\d[-\s()./]?)(?:19|20)\d{2}[-/](?:19|20)\d{2}(?![-\s()./]?\d)/g;
/** In a name whose words are joined by "_": a year and one number, as of a regulation, a norm or a series. */
const NUMBER_OF_YEAR = /(?<!\d_?)(?:(?:19|20)\d{2}_\d{1,5}|\d{1,5}_(?:19|20)\d{2})(?!_?\d)/g;
const VERSION = /(?<![a-z0-9])v\d{1,3}(?:[-.]\d{1,3}){1,3}(?![-.]?\d)/gi;
const NUMBER = /\+?\(?\d[\d\s().\-/]*\d/g;
/** E.164 numbers have at most 15 digits; seven are a number without its area code. */
const TELEPHONE_DIGITS = { least: 7, most: 15 };
const ADDRESS = /[^\s@]@[^\s@]|^(?:tel|sips?|mailto):/i;

/** Unicode has the decimal digits of each script in a row, beginning with zero. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  let zero = code;
  while (IS_DIGIT.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((code - zero) % 10);
}

/** A text with the usual characters for what other characters or percent-encodings stand for. */
function plain(text: string): string {
  return text
    .replace(ESCAPE, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .normalize('NFKC')
    .replace(DIGIT, asciiDigit)
    .replace(DASH, '-');
}

/**
 * True if a text is or contains something like a telephone number or an e-mail address, in whatever script and with
 * whatever separators. Dates and versions do not count.
 */
export function looksPersonal(text: string): boolean {
  const read = plain(text.replace(NUMBER_OF_YEAR, ' x '));
  if (ADDRESS.test(read)) return true;
  const rest = read.replace(UUID, ' x ').replace(DATE, ' x ').replace(YEARS, ' x ').replace(VERSION, ' x ');
  return [...rest.matchAll(NUMBER)].some(([run]) => {
    const digits = run.replace(/\D/g, '').length;
    return digits >= TELEPHONE_DIGITS.least && digits <= TELEPHONE_DIGITS.most;
  });
}
