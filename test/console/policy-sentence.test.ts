import { describe, expect, it } from 'vitest';
import { matching } from '../../src/console/policy-draft.js';
import { type Permission, policySentences } from '../../src/console/policy-sentence.js';

const NOTHING: Permission = {
  subjects: [],
  behaviours: [],
  include_attributes: [],
  user_attributes: [],
  asset_attributes_read: [],
  asset_attributes_write: [],
  event_arc_display_type_read: [],
  event_arc_display_type_write: [],
};
const READS = { event_arc_display_type_read: ['*'] };
const BANK = 'subjects/0192e8f5-0000-7000-8000-00000000aa01';
const policy = (filters: readonly string[][], ...permissions: readonly Partial<Permission>[]) => ({
  display_name: 'A policy',
  filters: filters.map((or) => ({ or })),
  access_permissions: permissions.map((each) => ({ ...NOTHING, ...each })),
});
const sentences = (...of: Parameters<typeof policy>) => policySentences(policy(...of), new Map([[BANK, 'Bank']]));
const people = (...lists: readonly string[][]) => ({ user_attributes: lists.map((or) => ({ or })) });

describe('the sentences of an access policy', () => {
  it.each([
    [[['attributes.a=*']], 'On assets with any a'],
    [[['attributes.a!=*']], 'On assets with no a'],
    [[['attributes.a!=b']], 'On assets with a other than “b”'],
    [[['attributes.a=b', 'attributes.c=d']], 'On assets with a “b” or c “d”'],
    [[['attributes.a=b', 'attributes.c=d'], ['attributes.e=*']], 'On assets with (a “b” or c “d”) and any e'],
  ])('say which assets it is about, with alternatives in brackets beside another condition: %j', (filters, text) =>
    expect(sentences(filters)).toEqual([text]),
  );

  it.each([
    [
      people(['email=Ada@Example.com'], ['group:a=b', 'jwt_role=x:y']),
      'ada@example.com and (the group a=b or role “x:y”)',
    ],
    [people(['group=auditors']), 'the group auditors'],
    [people(['subject:app']), 'the application app'],
    [people(['jwt_https://example.com/role=auditor']), 'https://example.com/role “auditor”'],
    [{ subjects: [BANK] }, 'the organisation Bank'],
    [
      { ...people(['group:a']), subjects: [BANK, 'subjects/gone'] },
      'the group a or the organisation Bank or the organisation subjects/gone',
    ],
    [{}, 'nobody (no person is named)'],
  ])('name people as the service reads their conditions: %j', (named, text) =>
    expect(sentences([], { ...READS, ...named })).toEqual(['On all assets', `${text} may read all events.`]),
  );

  it('never say that another organisation may record or change anything', () => {
    const writes = { event_arc_display_type_write: ['loan'], asset_attributes_write: ['*'] };
    expect(sentences([], { ...READS, ...writes, ...people(['group:a']), subjects: [BANK] }).slice(1)).toEqual([
      'the group a may read all events and record the events “loan” and change all attributes.',
      'the organisation Bank may read all events.',
    ]);
    expect(sentences([], { ...writes, subjects: [BANK] })).toContain('the organisation Bank may do nothing.');
  });

  it('say of a permission that allows nothing that it does so', () => {
    expect(sentences([], people(['group:a']), {}).slice(1)).toEqual([
      'the group a may do nothing.',
      'This permission names nobody and allows nothing.',
    ]);
  });
});

describe('the trial of an access policy', () => {
  it('counts no public asset, because policies select none', () => {
    const assets = [
      { public: true, attributes: {} },
      { public: false, attributes: {} },
    ];
    expect(matching(policy([]), assets)).toEqual([assets[1]]);
  });
});
