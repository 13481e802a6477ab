import { describe, expect, it } from 'vitest';
import { checkRichness } from '../../../src/archivist/compliance/richness.js';
import { parseRichnessAssertions } from '../../../src/archivist/compliance/richness-assertion.js';
import { FilterError } from '../../../src/filter/filter-error.js';
import { input, policy } from './compliance-samples.js';

const ATTRIBUTES = {
  rad: '6.5',
  weight: '10',
  exact: '0.3',
  version: 'v1.10',
  status: 'Published',
  empty: '',
  map: { inner: '7' },
  'dotted.name': '1',
  list: ['7'],
};

function check(...lists: string[][]) {
  const richness_assertions = lists.map((or) => ({ or }));
  return checkRichness(policy('COMPLIANCE_RICHNESS', { richness_assertions }), {
    ...input(),
    assetAttributes: ATTRIBUTES,
  });
}

describe('RICHNESS', () => {
  it.each<[string, boolean]>([
    ['rad<7', true],
    ['rad<6.5', false],
    ['rad<=6.5', true],
    ['rad>=6.5', true],
    ['rad>6.4999', true],
    ['rad=6.50', true],
    ['rad=65e-1', true],
    ['rad!=6.5', false],
    ['rad < 7', true],
    ['weight>9', true],
    ['weight<9', false],
    ['exact=0.3', true],
    ['exact=0.30000000000000004', false],
    ['status=Published', true],
    ['status=published', false],
    ['status!=Withdrawn', true],
    ['status>Draft', true],
    ['version<v1.9', true],
    ['version<2', false],
    ['version>2', false],
    ['version=2', false],
    ['version!=2', true],
    ['rad>high', false],
    ['rad<high', false],
    ['empty=', true],
    ['empty!=', false],
    ['status!=', true],
    ['absent=1', false],
    ['absent!=1', false],
    ['absent<1', false],
    ['absent=', false],
    ['map.inner=7', true],
    ['dotted.name=1', true],
    ['map=7', false],
    ['map!=7', false],
    ['list!=8', false],
    ['toString!=x', false],
    ['rad=6.5=7', false],
  ])('%s is %s', (assertion, compliant) => {
    expect(check([assertion]).compliant).toBe(compliant);
  });

  it('needs one assertion of every list', () => {
    expect(check(['rad>7', 'weight=10'], ['status=Published']).compliant).toBe(true);
    expect(check(['rad>7', 'weight=10'], ['status=Withdrawn']).compliant).toBe(false);
  });

  it('says which assertion failed, and on what', () => {
    expect(check(['rad>7']).reason).toBe('The assertion "rad>7" does not hold: it is "6.5".');
    expect(check(['absent>7', 'rad>7']).reason).toBe(
      'The assertion "absent>7" does not hold, nor 1 more beside it: the asset has no attribute "absent".',
    );
    expect(check(['map=7']).reason).toBe('The assertion "map=7" does not hold: it is a list or a map.');
  });
});

describe('a richness assertion', () => {
  it.each([
    ['rad<7', { name: 'rad', operator: '<', value: '7' }],
    ['rad>=-7', { name: 'rad', operator: '>=', value: '-7' }],
    ['a!b!=c', { name: 'a!b', operator: '!=', value: 'c' }],
    ['a=<b', { name: 'a', operator: '=', value: '<b' }],
    ['  two words = a b ', { name: 'two words', operator: '=', value: 'a b' }],
  ])('%j is understood', (text, assertion) => {
    expect(parseRichnessAssertions([{ or: [text] }], 'f')).toEqual([[assertion]]);
  });

  it.each([
    ['', 0],
    ['rad', 3],
    ['=7', 0],
    ['  <7', 0],
    ['rad=\0', 4],
  ])('%j is refused at character %i', (text, position) => {
    try {
      parseRichnessAssertions([{ or: ['rad<7'] }, { or: ['rad<7', text] }], 'f');
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(FilterError);
      expect(error).toMatchObject({ field: 'f[1].or[1]', position });
    }
  });
});
