import { compareCodePoints } from '../../filter/code-points.js';
import { findAttribute } from '../../filter/matches.js';
import type { Attributes } from '../attributes.js';
import { type ComplianceInput, quoted, type Verdict } from './compliance-check.js';
import type { CompliancePolicy } from './compliance-policy.js';
import { parseRichnessAssertions, type RichnessAssertion, type RichnessOperator } from './richness-assertion.js';

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/**
 * COMPLIANCE_RICHNESS: passes when at least one assertion of every list holds. Two numbers are compared as floats,
 * exactly; two other texts by code point. An assertion fails, whatever its operator, if the attribute is missing or not
 * a text. Ordering a number against a text also fails.
 */
export function checkRichness(policy: CompliancePolicy, input: ComplianceInput): Verdict {
  const lists = parseRichnessAssertions(policy.richness_assertions, 'richness_assertions');
  const failed = lists.find((any) => !any.some((assertion) => holds(assertion, input.assetAttributes)));
  if (!failed) return { compliant: true, reason: 'The attributes of the asset meet every assertion.' };
  const first = failed[0]!;
  const wanted = quoted(`${first.name}${first.operator}${first.value}`);
  const others = failed.length === 1 ? '' : `, nor ${failed.length - 1} more beside it`;
  const detail = input.readable ? `: ${foundText(first.name, input.assetAttributes)}` : '';
  return { compliant: false, reason: `The assertion ${wanted} does not hold${others}${detail}.` };
}

function holds({ name, operator, value }: RichnessAssertion, attributes: Attributes): boolean {
  const found = findAttribute(attributes, name);
  if (typeof found !== 'string') return false;
  const numbers = [found, value].filter((text) => NUMBER.test(text.trim())).length;
  if (numbers === 1) return operator === '!=';
  return ordered(
    operator,
    numbers === 2 ? compareFloats(Number(found), Number(value)) : compareCodePoints(found, value),
  );
}

function compareFloats(left: number, right: number): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function ordered(operator: RichnessOperator, order: number): boolean {
  switch (operator) {
    case '=':
      return order === 0;
    case '!=':
      return order !== 0;
    case '>':
      return order > 0;
    case '<':
      return order < 0;
    case '>=':
      return order >= 0;
    case '<=':
      return order <= 0;
  }
}

function foundText(name: string, attributes: Attributes): string {
  const found = findAttribute(attributes, name);
  if (found === undefined || found === null) return `the asset has no attribute ${quoted(name)}`;
  return typeof found === 'string' ? `it is ${quoted(found)}` : 'it is a list or a map';
}
