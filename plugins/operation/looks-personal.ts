const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
/** Year, month and day in either order, with or without separators, optionally followed by the digits of a time. */
const DATE =
  /(?<!\d)(?:(?:19|20)\d{2}([-_./]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|[12]\d|3[01])([-./])(?:0[1-9]|1[0-2])\2(?:19|20)\d{2})(?:[T _-]?[0-2]\d[-:.]?[0-5]\d(?:[-:.]?[0-5]\d)?)?(?!\d)/g;
const NUMBER = /\+?\(?\d[\d\s().\-/]*\d/g;
/** E.164 numbers have at most 15 digits; seven are a number without its area code. */
const TELEPHONE_DIGITS = { least: 7, most: 15 };
const ADDRESS = /[^\s@]@[^\s@]|^(?:tel|sips?|mailto):/i;

/** True if a text is or contains something like a telephone number or an e-mail address. Dates do not count. */
export function looksPersonal(text: string): boolean {
  if (ADDRESS.test(text)) return true;
  const rest = text.replace(UUID, ' x ').replace(DATE, ' x ');
  return [...rest.matchAll(NUMBER)].some(([run]) => {
    const digits = run.replace(/\D/g, '').length;
    return digits >= TELEPHONE_DIGITS.least && digits <= TELEPHONE_DIGITS.most;
  });
}
