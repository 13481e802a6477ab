import { describe, expect, it } from 'vitest';
import { assetConditions } from '../../src/archivist/assets/asset-filter-store.js';
import { condition, renderWhere } from '../../src/platform/listing/condition.js';

const ATTRIBUTES = { column: 'a.attributes' };

describe('list conditions', () => {
  it('bind every value of a caller as a parameter', () => {
    const { sql, values } = renderWhere(assetConditions([["attributes.x' OR 1=1 --", "y'; DROP TABLE"]], ATTRIBUTES));
    expect(sql).not.toContain('DROP');
    expect(sql).not.toContain('1=1');
    expect(values).toEqual(["x' OR 1=1 --", "y'; DROP TABLE"]);
  });

  it('number parameters across conditions', () => {
    const rendered = renderWhere([condition('a = ?', 1), condition('b = ? OR c = ?', 2, 3)]);
    expect(rendered).toEqual({ sql: '(a = $1) AND (b = $2 OR c = $3)', values: [1, 2, 3] });
  });

  it('leave untracked assets out unless tracked is filtered', () => {
    expect(renderWhere(assetConditions([], ATTRIBUTES)).sql).toBe('(a.tracked)');
    expect(renderWhere(assetConditions([['tracked', 'ANY']], ATTRIBUTES)).sql).toBe('true');
    expect(renderWhere(assetConditions([['tracked', 'NOT_TRACKED']], ATTRIBUTES)).sql).toBe('(NOT a.tracked)');
  });

  it('refuse an unknown filter by name', () => {
    expect(() => assetConditions([['colour', 'red']], ATTRIBUTES)).toThrow(/^colour: /);
    expect(() => assetConditions([['__proto__', 'red']], ATTRIBUTES)).toThrow(/^__proto__: /);
  });
});
