import { expect, it } from 'vitest';
import { csvOf } from '../../src/console/csv.js';

const FORMULA = '=HYPERLINK("https://evil.example","the call")';
const TEXTS = [FORMULA, '+1', '-1', '@SUM(1)', '＝1', '\t=1', '\r=1'].flatMap((text) => [
  text,
  `a;${text}`,
  `a\t${text}`,
  `a\n${text}`,
  `a;b;${text};c`,
]);

/** The cells of a reader that knows one separator, and quotation marks only where a cell begins. */
function cellsOf(csv: string, separator: string): string[] {
  return csv.replace('\ufeff', '').split(new RegExp(`${separator}|\r\n|\r|\n`));
}

it.each([';', '\t'])('no cell of a CSV file is a formula where %j separates cells', (separator) => {
  const csv = csvOf(
    ['Name', 'State'],
    TEXTS.map((text) => ['Call', text]),
  );
  expect(cellsOf(csv, separator).filter((cell) => /^[=+\-@＝＋－＠]/.test(cell))).toEqual([]);
});

it('a text without a formula is the same in a CSV file', () => {
  expect(csvOf(['Name'], [['a-b; c=d'], ['41+1'], ['a@b.example']])).toBe(
    '\ufeffName\r\na-b; c=d\r\n41+1\r\na@b.example\r\n',
  );
});
