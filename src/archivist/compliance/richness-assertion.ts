import { type Alternatives, MAX_ATTRIBUTE_TESTS } from '../../filter/attribute-filter.js';
import { FilterError, requirePlainText } from '../../filter/filter-error.js';

export type RichnessOperator = '=' | '!=' | '>' | '<' | '>=' | '<=';

export interface RichnessAssertion {
  /** Name of an asset attribute, without a prefix. */
  readonly name: string;
  readonly operator: RichnessOperator;
  readonly value: string;
}

/**
 * Parses the assertions of a RICHNESS policy, `<attribute><operator><value>`: all outer lists must hold, by any of
 * their members. The name ends at the first operator; spaces around name and value are ignored.
 * @throws {FilterError} whose field is `<field>[i].or[j]`
 */
export function parseRichnessAssertions(assertions: readonly Alternatives[], field: string): RichnessAssertion[][] {
  let count = 0;
  return assertions.map(({ or }, outer) => {
    count += or.length;
    if (count > MAX_ATTRIBUTE_TESTS) {
      throw new FilterError(`${field}[${outer}].or`, 0, `a policy has at most ${MAX_ATTRIBUTE_TESTS} assertions`);
    }
    return or.map((text, inner) => parse(text, `${field}[${outer}].or[${inner}]`));
  });
}

function parse(text: string, field: string): RichnessAssertion {
  requirePlainText(text, field);
  const found = /!=|>=|<=|[=><]/.exec(text);
  if (!found) throw new FilterError(field, text.length, 'expected one of = != > < >= <=');
  const name = text.slice(0, found.index).trim();
  if (name === '') throw new FilterError(field, 0, 'expected the name of an attribute');
  const value = text.slice(found.index + found[0].length).trim();
  return { name, operator: found[0] as RichnessOperator, value };
}
